import { useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import { CONSOLE, postJson } from '../../api/request.js';
import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useAct } from '../../ui/form/act.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/form/password-field.js';
import { Sessions, SESSION_OPTIONS } from './sessions.js';
import { LogInMethods } from './log-in-methods.js';

const FIELDS = ['current', 'password'];

/** Where the member is logged in, and how they log in. */
export function Security() {
  return (
    <>
      <Sessions />
      <LogInMethods />
      <ChangePassword />
    </>
  );
}

function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const sessions = useMy('user.sessions', {}, SESSION_OPTIONS);
  const ways = useMy('user.log-in-methods', {}, SESSION_OPTIONS);
  const hasPassword = ways.data?.has_password ?? true;
  const act = useAct(async () => {
    await postJson(`${CONSOLE}/password`, { password, ...(hasPassword && { current }) });
    setCurrent('');
    setPassword('');
    toast('Your password is changed. Every other browser is logged out.');
    await Promise.all([sessions.refresh(), ways.refresh()]);
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form reading" onSubmit={submit}>
      <h2>{hasPassword ? 'Change your password' : 'Set a password'}</h2>
      {/* Tells the password manager to which account the password belongs. */}
      <input
        hidden
        readOnly
        aria-hidden="true"
        autocomplete="username"
        value={currentSession().member.email}
      />
      {hasPassword && (
        <PasswordField
          label="Current password"
          autocomplete="current-password"
          wrong={wrongIn(act.fault, 'current')}
          value={current}
          onValue={setCurrent}
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
      <p class="soft small">This logs out every other browser. Your keys stay as they are.</p>
      <div class="row">
        <Button type="submit" tone="primary" busy={act.isBusy}>
          {hasPassword ? 'Change the password' : 'Set the password'}
        </Button>
      </div>
    </form>
  );
}
