import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Check, SelectField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { DAY_S } from '../../ui/text/last-days.js';
import { NameField } from '../../ui/form/name-field.js';
import { RuleFields, rulesOf, typedRules } from './key-rules.js';
import { useKeys } from './keys.js';
import type { WholeKey } from './keys.js';
import { ShownKey } from './shown-key.js';

const LIVES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 365 days' },
] as const;

const SCOPES = [
  { value: 'any', label: 'Everything that I may use' },
  { value: 'own', label: 'Only my own GPUs' },
] as const;
type Scope = (typeof SCOPES)[number]['value'];

const SCOPE_HINTS: Readonly<Record<Scope, string>> = {
  any: 'Your own GPUs, and those that others share with you.',
  own: 'What you send with it never leaves your own machines.',
};

const FILES = [
  { value: '', label: 'The default of the gateway' },
  { value: 'link', label: 'Everybody with the link' },
  { value: 'private', label: 'Only me' },
] as const;
const FILES_HINT =
  'Who may fetch the files that it generates. Links work without a key for a limited time: for ' +
  'programs that show a picture by its address alone.';

/**
 * Asks for a name, creates the key and shows it. It must not be part of the list's empty state,
 * which disappears with the first key.
 */
export function NewKey({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<WholeKey | null>(null);
  const keys = useKeys();
  const show = (key: WholeKey): void => {
    setMade(key);
    void keys.refresh();
  };
  return made === null ? (
    <NewKeyForm onMade={show} onClose={onClose} />
  ) : (
    <ShownKey title="Your new key" made={made} onClose={onClose} />
  );
}

interface NewKeyFormProps {
  readonly onMade: (key: WholeKey) => void;
  readonly onClose: () => void;
}

function NewKeyForm({ onMade, onClose }: NewKeyFormProps) {
  const [name, setName] = useState('');
  const [life, setLife] = useState<(typeof LIVES)[number]['value']>('');
  const [scope, setScope] = useState<Scope>('any');
  const [files, setFiles] = useState<(typeof FILES)[number]['value']>('');
  const [isLimited, setLimited] = useState(false);
  const [rules, setRules] = useState(typedRules);
  const create = async (): Promise<false> => {
    const expires_in_s = life === '' ? null : Number(life) * DAY_S;
    const assets = files === '' ? null : files;
    const limits = isLimited ? rulesOf(rules) : {};
    onMade(await my('key.create', { name: name.trim(), scope, assets, expires_in_s, ...limits }));
    return false;
  };
  return (
    <FormDialog title="Create a key" verb="Create" action={create} onClose={onClose}>
      <NameField
        hint="What will call with it, such as laptop or notes app."
        value={name}
        onValue={setName}
      />
      <SelectField label="Expires" value={life} options={LIVES} onValue={setLife} />
      <SelectField
        label="Reaches"
        hint={SCOPE_HINTS[scope]}
        value={scope}
        options={SCOPES}
        onValue={setScope}
      />
      <SelectField
        label="Files open to"
        hint={FILES_HINT}
        value={files}
        options={FILES}
        onValue={setFiles}
      />
      <Check
        label="Only for some models or endpoints, or up to a limit"
        checked={isLimited}
        onChecked={setLimited}
      />
      {isLimited && <RuleFields value={rules} onValue={setRules} />}
    </FormDialog>
  );
}
