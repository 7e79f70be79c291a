import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import type { OwnProvider } from './own-providers.js';

interface RenameProviderProps {
  readonly provider: OwnProvider;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function RenameProvider({ provider, onDone, onClose }: RenameProviderProps) {
  const [name, setName] = useState(provider.name);
  const rename = async (): Promise<void> => {
    await my('provider.rename', { provider: provider.id, name: name.trim() });
    await onDone();
  };
  return (
    <FormDialog title={`Rename ${provider.name}`} verb="Rename" action={rename} onClose={onClose}>
      <NameField
        hint="Whoever you share it with sees it, with your own name."
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}
