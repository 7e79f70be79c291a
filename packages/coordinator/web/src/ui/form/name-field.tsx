import { TextField } from './field.js';

/** As the coordinator has it, whatever is named. */
const MAX_CHARACTERS = 64;

interface NameFieldProps {
  readonly hint?: string;
  readonly wrong?: string | null;
  /** `nickname` where it is somebody's own. */
  readonly autocomplete?: 'off' | 'nickname';
  /** Unless it stands among others from the beginning. */
  readonly autofocus?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** What a member, a key, a provider or a network is called. */
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
