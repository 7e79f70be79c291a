import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { SelectField } from '../../ui/form/field.js';
import { NameField } from '../../ui/form/name-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { LISTS } from './every.js';
import { FormDialog } from '../../ui/form/form-dialog.js';

interface DialogProps {
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function NewNetwork({ onDone, onClose }: DialogProps) {
  const [name, setName] = useState('');
  const [owner, setOwner] = useState(currentSession().member.id);
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const create = async (): Promise<void> => {
    await admin('network.create', { name: name.trim(), owner });
    toast(`${name.trim()} is there. Its owner is in it.`);
    await onDone();
  };
  return (
    <FormDialog title="Create a network" verb="Create" action={create} onClose={onClose}>
      <NameField value={name} onValue={setName} />
      <SelectField
        label="Owner"
        hint="May invite others to it, and remove them."
        value={owner}
        options={users.map((one) => ({ value: one.id, label: one.name }))}
        onValue={setOwner}
      />
    </FormDialog>
  );
}

interface NameNetworkProps extends DialogProps {
  readonly id: string;
  readonly name: string;
}

export function NameNetwork({ id, name: before, onDone, onClose }: NameNetworkProps) {
  const [name, setName] = useState(before);
  const rename = async (): Promise<void> => {
    await admin('network.rename', { network: id, name: name.trim() });
    toast(`${before} is called ${name.trim()} now.`);
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${before}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}
