import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { FaultText } from '../../ui/table/states.js';
import { Joining } from './joining.js';
import { TOKEN_LIFE_S } from './join-token.js';
import type { MadeToken } from './join-token.js';

/** A name, then the commands, then what to share: until the machine is there the dialog waits. */
export function AddGpu({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<MadeToken | null>(null);
  return (
    <Dialog title="Add a GPU" shape="wide" onClose={onClose}>
      {made === null ? (
        <NameForm onMade={setMade} onClose={onClose} />
      ) : (
        <Joining made={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface NameFormProps {
  readonly onMade: (made: MadeToken) => void;
  readonly onClose: () => void;
}

function NameForm({ onMade, onClose }: NameFormProps) {
  const [name, setName] = useState('');
  const act = useAct(async () => {
    const wanted = { name: name.trim(), expires_in_s: TOKEN_LIFE_S, replace: null };
    onMade(await my('token.create', wanted));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="form" onSubmit={submit}>
      <NameField hint="What you call the machine, such as den-pc." value={name} onValue={setName} />
      <FaultText fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Continue
        </Button>
      </div>
    </form>
  );
}
