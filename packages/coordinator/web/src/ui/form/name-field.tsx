import { TextField } from './field.js';

/** As the coordinator has it, whatever is named. */
const MAX_CHARACTERS = 64;

interface NameFieldProps {
  readonly hint?: string;
  readonly wrong?: string | null;
  /** `nickname` for the user's own name. */
  readonly autocomplete?: 'off' | 'nickname';
  /** Unless it stands among others from the beginning. */
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
