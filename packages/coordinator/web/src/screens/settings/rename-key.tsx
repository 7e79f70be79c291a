import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import type { Key } from './keys.js';

interface RenameKeyProps {
  readonly subject: Key;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function RenameKey({ subject, onDone, onClose }: RenameKeyProps) {
  const [name, setName] = useState(subject.name);
  const rename = async (): Promise<void> => {
    await my('key.rename', { key: subject.id, name: name.trim() });
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${subject.name}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}
