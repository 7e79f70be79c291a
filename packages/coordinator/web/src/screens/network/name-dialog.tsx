import { useState } from 'preact/hooks';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';

interface NameDialogProps {
  readonly title: string;
  readonly verb: string;
  /** The current name. */
  readonly name?: string;
  readonly onName: (name: string) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks for a network's name; closes when the coordinator has accepted it. */
export function NameDialog({ title, verb, name: before = '', onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(before);
  return (
    <FormDialog title={title} verb={verb} action={() => onName(name.trim())} onClose={onClose}>
      <NameField
        hint="No other network here may have it. Every member of the network sees it."
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}
