import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../button/button.js';
import { Dialog } from './dialog.js';

interface OnceDialogProps {
  readonly title: string;
  /** What is to be copied from it: "the key". */
  readonly what: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Shows what is never shown again. */
export function OnceDialog({ title, what, onClose, children }: OnceDialogProps) {
  const [isWarned, setWarned] = useState(false);
  // Escape, or a click beside it, may be a slip, and what is gone here is gone.
  const leave = (): void => (isWarned ? onClose() : setWarned(true));
  return (
    <Dialog title={title} shape="wide" onClose={leave}>
      <div class="stack">
        {children}
        <div class="row spread">
          <p class="warn" role="status">
            {isWarned && `Have you copied ${what}? Press Escape again, or Done, to close.`}
          </p>
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
