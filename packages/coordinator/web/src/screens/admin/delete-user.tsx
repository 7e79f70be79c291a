import { useEffect, useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { TextField } from '../../ui/form/field.js';
import { FaultText, Loading } from '../../ui/table/states.js';
import { toast } from '../../ui/dialog/toasts.js';
import { LISTS } from './every.js';
import type { User } from './user.js';

interface DeleteUserProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** Tells first what becomes of what is theirs, in the words of the command line. */
export function DeleteUser({ user: { id, name, email }, onClose }: DeleteUserProps) {
  const [consequences, setConsequences] = useState<readonly string[] | null>(null);
  const [typed, setTyped] = useState('');
  const users = useAdmin('user.list', {}, LISTS);
  const preview = useAct(async () => {
    setConsequences((await admin('user.delete', { member: id, dry_run: true })).consequences);
  });
  useEffect(() => void preview.run(), [id]);
  const remove = useAct(async () => {
    await admin('user.delete', { member: id, dry_run: false });
    toast(`${name} is deleted.`);
    await users.refresh();
  });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await remove.run()) onClose();
  };
  const isMeant = [name, email].some((one) => one.toLowerCase() === typed.trim().toLowerCase());
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <p>This cannot be undone. To keep their data and shut them out, disable them instead.</p>
        <FaultText fault={preview.fault} />
        {consequences === null && preview.fault === null && <Loading rows={3} />}
        {consequences !== null && (
          <ul aria-label="What it means">
            {consequences.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
        <TextField
          label={`Type ${name} or ${email} to confirm`}
          autocomplete="off"
          value={typed}
          onValue={setTyped}
        />
        <FaultText fault={remove.fault} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Keep it</Button>
          <Button
            type="submit"
            tone="danger"
            busy={remove.isBusy}
            disabled={!isMeant || consequences === null}
          >
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
