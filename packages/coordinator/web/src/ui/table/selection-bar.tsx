import type { ComponentChildren } from 'preact';
import { Button } from '../button/button.js';
import './selection-bar.css';

interface SelectionBarProps {
  /** Noun of the selected rows, plural: "jobs". */
  readonly what: string;
  /** With how many of them: "3 jobs". */
  readonly count: string;
  readonly onClear: () => void;
  /** What can be done with them. */
  readonly children: ComponentChildren;
}

/** Over a list of which some are chosen. */
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
