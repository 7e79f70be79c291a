import { useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import { CONSOLE, postJson } from '../../api/request.js';
import { currentSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/form/password-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { SESSION_OPTIONS } from './sessions.js';

const FIELDS = ['current', 'password'];

export function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const sessions = useMy('user.sessions', {}, SESSION_OPTIONS);
  const act = useAct(async () => {
    await postJson(`${CONSOLE}/password`, { current, password });
    setCurrent('');
    setPassword('');
    toast('Your password is changed. Every other browser is logged out.');
    await sessions.refresh();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form reading" onSubmit={submit}>
      <h2>Change your password</h2>
      {/* Which account it is of, for the browser's keeper of passwords. */}
      <input
        hidden
        readOnly
        aria-hidden="true"
        autocomplete="username"
        value={currentSession().member.email}
      />
      <PasswordField
        label="Current password"
        autocomplete="current-password"
        wrong={wrongIn(act.fault, 'current')}
        value={current}
        onValue={setCurrent}
      />
      <PasswordField
        label="New password"
        hint={PASSWORD_HINT}
        autocomplete="new-password"
        wrong={wrongIn(act.fault, 'password')}
        value={password}
        onValue={setPassword}
      />
      <OtherFault fault={act.fault} fields={FIELDS} />
      <p class="soft small">This logs out every other browser. Your keys stay as they are.</p>
      <div class="row">
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
