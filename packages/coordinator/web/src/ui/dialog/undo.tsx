import { useState } from 'preact/hooks';
import { Button } from '../button/button.js';
import { toast } from './toasts.js';

/** Longer than other toasts, because its button has to be found and reached. */
const SHOWN_MS = 15_000;

/** Says what was deleted, and offers to put it back. */
export function toastUndo(text: string, undo: () => void): void {
  toast(<Undo text={text} undo={undo} />, 'good', SHOWN_MS);
}

interface UndoProps {
  readonly text: string;
  readonly undo: () => void;
}

function Undo({ text, undo }: UndoProps) {
  const [isUndone, setUndone] = useState(false);
  if (isUndone) return <>It is back.</>;
  return (
    <>
      {text}
      <Button
        small
        onClick={() => {
          setUndone(true);
          undo();
        }}
      >
        Undo
      </Button>
    </>
  );
}
