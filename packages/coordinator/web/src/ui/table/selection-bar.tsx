import type { ComponentChildren } from 'preact';
import { Button } from '../button/button.js';
import './selection-bar.css';

interface SelectionBarProps {
  /** Noun of the selected rows, plural: "jobs". */
  readonly what: string;
  /** Their number and noun: "3 jobs". */
  readonly count: string;
  readonly onClear: () => void;
  /** The actions on them. */
  readonly children: ComponentChildren;
}

/** Shown above a list while some of its rows are selected. */
export function SelectionBar({ what, count, onClear, children }: SelectionBarProps) {
  return (
    <div class="selection-bar" role="group" aria-label={`What to do with the selected ${what}`}>
      <span>{count} selected</span>
      {children}
      <Button small tone="quiet" onClick={onClear}>
        Clear the selection
      </Button>
    </div>
  );
}
