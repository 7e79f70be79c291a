import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { CONSOLE, postJson } from '../../api/request.js';
import { loadSession, tellTabs } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { TextField } from '../../ui/form/field.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/form/password-field.js';
import { dropSecret, useLinkSecret } from './link-secret.js';
import { Welcome } from './welcome.js';

const FIELDS = ['password'];

/** Sets a new password by the link that an admin has made, and logs in. */
export function Reset() {
  const { route } = useLocation();
  const secret = useLinkSecret();
  const [token, setToken] = useState(secret);
  const [password, setPassword] = useState('');
  const act = useAct(async () => {
    await postJson(`${CONSOLE}/password/reset`, { token, password });
    dropSecret();
    tellTabs();
    // Members who were logged in here stay on this page otherwise.
    route('/', true);
    await loadSession();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <Welcome
      title="Set a new password"
      lead="It replaces your old one, and logs out every browser."
    >
      <form class="form" onSubmit={submit}>
        {secret === '' && (
          <TextField
            label="Link"
            hint="The whole link that an admin sent you. It works once, within an hour."
            required
            value={token}
            onValue={setToken}
          />
        )}
        <PasswordField
          label="New password"
          hint={PASSWORD_HINT}
          autocomplete="new-password"
          wrong={wrongIn(act.fault, 'password')}
          value={password}
          onValue={setPassword}
        />
        <OtherFault fault={act.fault} fields={FIELDS} />
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Set the password
        </Button>
      </form>
    </Welcome>
  );
}
