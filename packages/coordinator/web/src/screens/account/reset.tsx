import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { CONSOLE, postJson } from '../../api/request.js';
import { loadSession, tellTabs } from '../../api/session.js';
import { TextField } from '../../ui/form/field.js';
import { NewPasswordForm } from '../../ui/form/new-password.js';
import { dropSecret, useLinkSecret } from './link-secret.js';
import { Welcome } from './welcome.js';

/** Sets a new password by the link that an admin has made, and logs in. */
export function Reset() {
  const { route } = useLocation();
  const secret = useLinkSecret();
  const [token, setToken] = useState(secret);
  const reset = async ({ password }: { readonly password: string }): Promise<void> => {
    await postJson(`${CONSOLE}/password/reset`, { token, password });
    dropSecret();
    tellTabs();
    // Members who were logged in here stay on this page otherwise.
    route('/', true);
    await loadSession();
  };
  return (
    <Welcome
      title="Set a new password"
      lead="It replaces your old one, and logs out every browser."
    >
      <NewPasswordForm verb="Set the password" action={reset}>
        {secret === '' && (
          <TextField
            label="Link"
            hint="The whole link that an admin sent you. It works once, within an hour."
            required
            value={token}
            onValue={setToken}
          />
        )}
      </NewPasswordForm>
    </Welcome>
  );
}
