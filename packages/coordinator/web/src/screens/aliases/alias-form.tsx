import { useState } from 'preact/hooks';
import { toast } from '../../ui/dialog/toasts.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import type { Option } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import './aliases.css';

/** The coordinator's limit. */
const MAX_CHARACTERS = 128;

const NAME_HINT =
  'What programs send as the model. A name that ends in * stands for every name that begins so, ' +
  'such as claude-*.';
const MODELS_HINT =
  'With commas between, the first choice first. The next one is taken while the one before is ' +
  'not online, or when it fails before its answer has begun.';

/** What follows when an alias is removed. */
export const REMOVED =
  'Programs that ask for it get an error. Jobs that wait under it run on its first model.';

export interface AliasFields {
  readonly name: string;
  readonly models: string[];
}

type Shown = Readonly<Pick<AliasFields, 'name'>> & { readonly models: readonly string[] };

interface AliasFormProps {
  /** The alias that is changed; absent: a new one. */
  readonly alias?: Shown;
  /** Whose it may be, the first one if nothing is chosen; absent: there is no choice. */
  readonly owners?: readonly Option<string>[];
  readonly save: (
    fields: AliasFields,
    owner: string,
  ) => Promise<{ readonly warnings: readonly string[] }>;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function AliasForm({ alias, owners = [], save, onDone, onClose }: AliasFormProps) {
  const [name, setName] = useState(alias?.name ?? '');
  const [models, setModels] = useState(alias?.models.join(', ') ?? '');
  const [owner, setOwner] = useState(owners[0]?.value ?? '');
  const submit = async (): Promise<void> => {
    const named = models.split(',').map((model) => model.trim());
    const chain = named.filter((model) => model !== '');
    const { warnings } = await save({ name: name.trim(), models: chain }, owner);
    toast([`${name.trim()} stands for ${chain.join(', ')}.`, ...warnings].join(' '));
    await onDone();
  };
  const isNew = alias === undefined;
  const title = isNew ? 'Create an alias' : `Models of ${alias.name}`;
  return (
    <FormDialog title={title} verb={isNew ? 'Create' : 'Save'} action={submit} onClose={onClose}>
      {isNew && (
        <TextField
          label="Name"
          hint={NAME_HINT}
          autocomplete="off"
          autofocus
          required
          maxLength={MAX_CHARACTERS}
          value={name}
          onValue={setName}
        />
      )}
      <TextField
        label="Models"
        hint={MODELS_HINT}
        autocomplete="off"
        required
        value={models}
        onValue={setModels}
      />
      {owners.length > 0 && (
        <SelectField label="For" value={owner} options={owners} onValue={setOwner} />
      )}
    </FormDialog>
  );
}

/** `a, then b` */
export function ChainOf({ models }: Pick<Shown, 'models'>) {
  return <span class="mono alias-chain">{models.join(', then ')}</span>;
}
