import { useState } from 'preact/hooks';
import { my, useMy } from '../../api/commands.js';
import { toast } from '../../ui/dialog/toasts.js';
import { TextField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { QuotaFields, quotaOf, quotaText, typedQuota } from '../../ui/form/quota-fields.js';
import type { Key } from './keys.js';

const MODELS_HINT =
  'With commas between; empty: everything that you may use. A key with any limit sees only the ' +
  'jobs and files that were made with it.';

interface LimitKeyProps {
  readonly subject: Key;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** The rules of a key: the models that it reaches, and what it may use. */
export function LimitKey({ subject, onDone, onClose }: LimitKeyProps) {
  const { id, name } = subject;
  const [models, setModels] = useState(subject.models?.join(', ') ?? '');
  const [quota, setQuota] = useState(() => typedQuota(subject));
  const used = useMy('key.show', { key: id }).data?.used;
  const save = async (): Promise<void> => {
    const named = models.split(',').map((model) => model.trim());
    const given = named.filter((model) => model !== '');
    await my('key.limit', {
      key: id,
      models: given.length === 0 ? null : given,
      ...quotaOf(quota),
    });
    toast(`The limits of ${name} are changed.`);
    await onDone();
  };
  return (
    <FormDialog title={`Limits of ${name}`} verb="Save" action={save} onClose={onClose}>
      <TextField label="Models" hint={MODELS_HINT} value={models} onValue={setModels} />
      <QuotaFields value={quota} used={used} onValue={setQuota} />
    </FormDialog>
  );
}

/** What the rules of a key are, in one line; null if it has none. */
export function ruleText(key: Key): string | null {
  const models = key.models === null ? [] : [`only ${key.models.join(', ')}`];
  const quota = quotaText(key);
  const rules = [...models, ...(quota === '' ? [] : [quota])];
  return rules.length === 0 ? null : rules.join('; ');
}
