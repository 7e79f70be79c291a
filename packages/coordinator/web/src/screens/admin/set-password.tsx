import { useState } from 'preact/hooks';
import { admin } from '../../api/commands.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/form/password-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import type { User } from './user.js';

interface SetPasswordProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** For whoever has forgotten theirs. */
export function SetPassword({ user: { id, name }, onClose }: SetPasswordProps) {
  const [password, setPassword] = useState('');
  const save = async (): Promise<void> => {
    await admin('user.password', { member: id, password });
    toast(`${name} has a new password.`);
  };
  return (
    <FormDialog
      title={`A new password for ${name}`}
      verb="Set the password"
      action={save}
      onClose={onClose}
    >
      <p>
        Tell it to {name} yourself; they can change it in their settings. Every browser in which
        they are logged in is logged out.
      </p>
      <PasswordField
        label="New password"
        hint={PASSWORD_HINT}
        autocomplete="new-password"
        value={password}
        onValue={setPassword}
      />
    </FormDialog>
  );
}
