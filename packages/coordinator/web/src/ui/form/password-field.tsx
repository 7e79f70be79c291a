import { useState } from 'preact/hooks';
import { IconButton } from '../button/icon-button.js';
import { Field } from './field.js';
import './password-field.css';

interface NewPasswordFieldProps {
  readonly label: string;
  readonly wrong?: string | null;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

interface PasswordFieldProps extends NewPasswordFieldProps {
  readonly hint?: string;
  /** For the browser's password manager. */
  readonly autocomplete: 'current-password' | 'new-password';
}

/** Typed once, with a button that shows it, instead of typed twice. */
export function PasswordField(props: PasswordFieldProps) {
  const { label, hint, wrong = null, autocomplete, value, onValue } = props;
  const [isShown, setShown] = useState(false);
  return (
    <Field label={label} {...(hint !== undefined && { hint })} wrong={wrong}>
      {(ids) => (
        <div class="password">
          <input
            {...ids}
            {...inputType(isShown)}
            class="input"
            autocomplete={autocomplete}
            // As typed: phones capitalize the first letter, and correct words.
            autocapitalize="none"
            spellcheck={false}
            required
            value={value}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
          <IconButton
            icon={isShown ? 'eye-off' : 'eye'}
            label={isShown ? 'Hide the password' : 'Show the password'}
            onClick={() => setShown(!isShown)}
          />
        </div>
      )}
    </Field>
  );
}

/** Preact's types distinguish inputs by a literal `type`; here it is known only at run time. */
function inputType(isShown: boolean): { readonly type: 'text' } {
  return { type: (isShown ? 'text' : 'password') as 'text' };
}

/** With the coordinator's requirements of a new password. */
export function NewPasswordField(props: NewPasswordFieldProps) {
  return <PasswordField hint={HINT} autocomplete="new-password" {...props} />;
}

const HINT = 'At least 12 characters. A few words in a row are good.';
