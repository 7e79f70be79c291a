import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAct } from '../form/act.js';
import { Button } from '../button/button.js';
import { FaultText } from '../table/states.js';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  readonly shape?: 'narrow' | 'wide' | 'drawer' | 'palette';
  /** Called on Escape, on a click outside the dialog, and by its own buttons. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/**
 * Open as long as it is rendered. The browser keeps the focus inside, and it returns to the element
 * that had it before.
 */
export function Dialog({ title, shape = 'narrow', onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Not after the next frame: an Escape pressed until then would not close it.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${shape}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // The browser closes the dialog on a second Escape, whether or not the first one was
      // prevented.
      onClose={() => element.current?.isConnected && onClose()}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <h2 id={titleId} class={TITLED.includes(shape) ? '' : 'unseen'}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** The others show their title to screen readers only. */
const TITLED = ['narrow', 'wide'];

interface ConfirmProps {
  readonly title: string;
  /** What happens, and what cannot be undone. */
  readonly text: string;
  /** Label of the button: a verb and its object. */
  readonly verb: string;
  readonly action: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before an irreversible action; closes when the action has succeeded. */
export function Confirm({ title, text, verb, action, onClose }: ConfirmProps) {
  const act = useAct(action);
  const confirm = async (): Promise<void> => {
    if (await act.run()) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <FaultText fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep it</Button>
        <Button tone="danger" busy={act.isBusy} onClick={() => void confirm()}>
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}

interface OnceDialogProps {
  readonly title: string;
  /** What can be copied from it: "the key". */
  readonly what: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Shows a secret, once. */
export function OnceDialog({ title, what, onClose, children }: OnceDialogProps) {
  const [isWarned, setWarned] = useState(false);
  // Escape or a click outside may be a mistake, and the secret cannot be shown again: the first one
  // only warns.
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
