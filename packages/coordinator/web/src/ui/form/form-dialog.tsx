import type { ComponentChildren } from 'preact';
import { useAct } from './act.js';
import { Button } from '../button/button.js';
import { Dialog } from '../dialog/dialog.js';
import { FaultText } from '../table/states.js';

interface FormDialogProps {
  readonly title: string;
  /** Label of its button. */
  readonly verb: string;
  /**
   * The dialog closes on success, unless this resolves to false because something else replaces it.
   */
  readonly action: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A few fields and a button; errors are shown below them. */
export function FormDialog({ title, verb, action, onClose, children }: FormDialogProps) {
  const act = useAct(async () => {
    if ((await action()) !== false) onClose();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={submit}>
        {children}
        <FaultText fault={act.fault} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={act.isBusy}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
