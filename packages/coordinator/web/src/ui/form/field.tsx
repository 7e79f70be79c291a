import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import './field.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Its error; null if there is none. */
  readonly wrong?: string | null;
  readonly children: (ids: FieldIds) => ComponentChildren;
}

/** Spread onto the control. */
interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid': boolean;
}

export function Field({ label, hint, wrong = null, children }: FieldProps) {
  const id = useId();
  const notes = [hint === undefined ? '' : `${id}-hint`, wrong === null ? '' : `${id}-wrong`];
  const described = notes.filter(Boolean).join(' ');
  const isWrong = wrong !== null;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-invalid': isWrong,
        ...(described && { 'aria-describedby': described }),
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {isWrong && (
        <p class="wrong" id={`${id}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  );
}

/** Attributes that are passed to the HTML input. */
interface InputAttributes {
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
  readonly disabled?: boolean;
  readonly inputMode?: 'text' | 'numeric' | 'decimal';
  readonly list?: string;
  readonly max?: number | string;
  readonly maxLength?: number;
  readonly min?: number | string;
  readonly minLength?: number;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly step?: number | 'any';
}

interface TextFieldProps extends InputAttributes {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'search' | 'date' | 'time';
  readonly label: string;
  readonly hint?: string;
  readonly wrong?: string | null;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, wrong, type = 'text', onValue, ...input } = props;
  return (
    <Field label={label} {...(hint !== undefined && { hint })} wrong={wrong ?? null}>
      {(ids) => (
        <input
          {...input}
          {...ids}
          {...typed(type)}
          class="input"
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Preact's types distinguish inputs by a literal `type`; here it is known only at run time. */
function typed(type: TextFieldProps['type']): { readonly type: 'text' } {
  return { type: type as 'text' };
}

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
}

interface SelectFieldProps<T extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly disabled?: boolean;
  readonly onValue: (value: T) => void;
}

export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  const { label, hint, value, options, disabled = false, onValue } = props;
  const choose = (chosen: string): void => {
    const option = options.find((one) => one.value === chosen);
    if (option !== undefined) onValue(option.value);
  };
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <select
          class="input"
          {...ids}
          disabled={disabled}
          value={value}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChecked: (checked: boolean) => void;
}

export function Check({ label, checked, disabled = false, onChecked }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

interface SegmentsProps<T extends string> {
  /** The accessible name of the group. */
  readonly label: string;
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly onValue: (value: T) => void;
}

/** A choice of one among a few visible options. */
export function Segments<T extends string>({ label, value, options, onValue }: SegmentsProps<T>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}

const ON_OFF = [
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

type OnOffProps = Omit<SegmentsProps<'on' | 'off'>, 'options'>;

export function OnOff(props: OnOffProps) {
  return <Segments {...props} options={ON_OFF} />;
}
