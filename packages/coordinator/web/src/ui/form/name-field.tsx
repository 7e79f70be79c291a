import { TextField } from './field.js';

/** The coordinator's limit for all names. */
const MAX_CHARACTERS = 64;

interface NameFieldProps {
  readonly hint?: string;
  readonly wrong?: string | null;
  /** `nickname` for the user's own name. */
  readonly autocomplete?: 'off' | 'nickname';
  /** Default: true. False if the page shows other fields as well. */
  readonly autofocus?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** The name of a member, a key, a provider or a network. */
export function NameField(props: NameFieldProps) {
  return (
    <TextField
      label="Name"
      autocomplete="off"
      autofocus
      {...props}
      required
      maxLength={MAX_CHARACTERS}
    />
  );
}
