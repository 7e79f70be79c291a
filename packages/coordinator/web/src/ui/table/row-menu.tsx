import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useToastedAct } from '../form/act.js';
import { Button } from '../button/button.js';
import { Confirm } from '../dialog/dialog.js';
import { Menu } from '../button/menu.js';
import { toast } from '../dialog/toasts.js';

interface Acting {
  /** Label in the menu, and of the button that confirms it. */
  readonly text: string;
  /** Resolves to the message on success. */
  readonly run: () => Promise<string>;
}

/** An action on one row of a list. */
export type RowAction =
  | (Acting & { readonly kind: 'now' })
  | (Acting & {
      /** Asks for confirmation first. */
      readonly kind: 'ask';
      readonly title: string;
      /** What will happen, and what cannot be undone. */
      readonly explain: string;
    })
  | {
      /** Opens its own dialog. */
      readonly kind: 'form';
      readonly text: string;
      /** True if it cannot be undone. */
      readonly danger?: boolean;
      readonly form: (close: () => void) => ComponentChildren;
    };

interface RowMenuProps {
  /** Name of the row. */
  readonly name: string;
  readonly actions: readonly RowAction[];
  /** Called after each action. */
  readonly onDone: () => Promise<void>;
}

export function RowMenu({ name, actions, onDone }: RowMenuProps) {
  const [open, setOpen] = useState<RowAction | null>(null);
  const close = (): void => setOpen(null);
  const perform = async (action: Acting): Promise<void> => {
    toast(await action.run());
    await onDone();
  };
  const act = useToastedAct(perform);
  if (actions.length === 0 && open === null) return null;
  const start = (action: RowAction): void => {
    if (action.kind === 'now') void act.run(action);
    else setOpen(action);
  };
  return (
    <>
      <Menu label={`Actions for ${name}`}>
        {actions.map((action) => (
          <Button
            key={action.text}
            tone={isDangerous(action) ? 'danger' : 'quiet'}
            busy={act.isBusy}
            onClick={() => start(action)}
          >
            {action.kind === 'now' ? action.text : `${action.text}…`}
          </Button>
        ))}
      </Menu>
      {open?.kind === 'form' && open.form(close)}
      {open?.kind === 'ask' && (
        <Confirm
          title={open.title}
          text={open.explain}
          verb={open.text}
          action={() => perform(open)}
          onClose={close}
        />
      )}
    </>
  );
}

function isDangerous(action: RowAction): boolean {
  return action.kind === 'ask' || (action.kind === 'form' && action.danger === true);
}
