/** The rules of a key: the models and endpoints that it reaches, and what may be used with it. */
import { CALL_PATHS } from '@inference-gateway/shared/endpoints';
import { useState } from 'preact/hooks';
import { my, useMy } from '../../api/commands.js';
import { toast } from '../../ui/dialog/toasts.js';
import { Check, TextField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { QuotaFields, quotaOf, quotaText, typedQuota } from '../../ui/form/quota-fields.js';
import type { QuotaFieldsProps, TypedQuota } from '../../ui/form/quota-fields.js';
import type { Key } from './keys.js';

/** As they are typed. */
export interface TypedRules {
  readonly models: string;
  /** Paths; none: all. */
  readonly endpoints: readonly string[];
  readonly quota: TypedQuota;
}

const MODELS_HINT =
  'Models and aliases, with commas between; empty: everything that you may use. A key with any ' +
  'limit sees only the jobs and files that were made with it.';

interface RuleFieldsProps {
  readonly value: TypedRules;
  readonly used?: QuotaFieldsProps['used'];
  readonly onValue: (value: TypedRules) => void;
}

export function RuleFields({ value, used, onValue }: RuleFieldsProps) {
  const { models, endpoints, quota } = value;
  const mark = (path: string, isMarked: boolean): void => {
    const others = endpoints.filter((one) => one !== path);
    onValue({ ...value, endpoints: isMarked ? [...others, path] : others });
  };
  return (
    <>
      <TextField
        label="Models"
        hint={MODELS_HINT}
        value={models}
        onValue={(typed) => onValue({ ...value, models: typed })}
      />
      <fieldset class="endpoint-checks">
        <legend>Endpoints</legend>
        <p class="soft small">
          None ticked: all of them. Models, jobs and files can always be read.
        </p>
        {CALL_PATHS.map((path) => (
          <Check
            key={path}
            label={path}
            checked={endpoints.includes(path)}
            onChecked={(isMarked) => mark(path, isMarked)}
          />
        ))}
      </fieldset>
      <QuotaFields
        value={quota}
        used={used}
        onValue={(typed) => onValue({ ...value, quota: typed })}
      />
    </>
  );
}

/** Of a key; undefined: of one without rules. */
export function typedRules(key?: Key): TypedRules {
  const { models = null, endpoints = null } = key ?? {};
  return { models: models?.join(', ') ?? '', endpoints: endpoints ?? [], quota: typedQuota(key) };
}

/** As arguments of the operations. */
export function rulesOf({ models, endpoints, quota }: TypedRules) {
  const named = models.split(',').map((model) => model.trim());
  const given = named.filter((model) => model !== '');
  return {
    models: given.length === 0 ? null : given,
    endpoints: endpoints.length === 0 ? null : [...endpoints],
    ...quotaOf(quota),
  };
}

interface LimitKeyProps {
  readonly subject: Key;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function LimitKey({ subject, onDone, onClose }: LimitKeyProps) {
  const { id, name } = subject;
  const [rules, setRules] = useState(() => typedRules(subject));
  const used = useMy('key.show', { key: id }).data?.used;
  const save = async (): Promise<void> => {
    await my('key.limit', { key: id, ...rulesOf(rules) });
    toast(`The limits of ${name} are changed.`);
    await onDone();
  };
  return (
    <FormDialog title={`Limits of ${name}`} verb="Save" action={save} onClose={onClose}>
      <RuleFields value={rules} used={used} onValue={setRules} />
    </FormDialog>
  );
}

/** What the rules of a key are, in one line; null if it has none. */
export function ruleText(key: Key): string | null {
  const only = [key.models, key.endpoints].flatMap((names) =>
    names === null ? [] : [`only ${names.join(', ')}`],
  );
  const quota = quotaText(key);
  const rules = [...only, ...(quota === '' ? [] : [quota])];
  return rules.length === 0 ? null : rules.join('; ');
}
