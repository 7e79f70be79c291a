import { useMy } from '../../api/commands.js';
import { CONSOLE, postJson } from '../../api/request.js';
import { currentSession } from '../../api/session.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useLogInMethods } from '../account/log-in-methods.js';
import { Loaded } from '../../ui/table/loaded.js';
import { NewPasswordForm } from '../../ui/form/new-password.js';
import { Sessions, SESSION_OPTIONS } from './sessions.js';
import { LogInMethods } from './log-in-methods.js';

/** Where the member is logged in, and how they log in. */
export function Security() {
  const offered = useLogInMethods();
  const own = useMy('user.log-in-methods', {}, SESSION_OPTIONS);
  return (
    <>
      <Sessions />
      {/* Only with both answers: what is drawn later would move what is drawn below. */}
      <Loaded of={offered === null ? { ...own, data: undefined } : own} rows={6}>
        {(has) => (
          <>
            {offered !== null && <LogInMethods offered={offered} has={has} refresh={own.refresh} />}
            <ChangePassword hasPassword={has.has_password} onChanged={own.refresh} />
          </>
        )}
      </Loaded>
    </>
  );
}

interface ChangePasswordProps {
  readonly hasPassword: boolean;
  readonly onChanged: () => Promise<void>;
}

function ChangePassword({ hasPassword, onChanged }: ChangePasswordProps) {
  const sessions = useMy('user.sessions', {}, SESSION_OPTIONS);
  return (
    <NewPasswordForm
      isCard
      asksCurrent={hasPassword}
      verb={hasPassword ? 'Change the password' : 'Set the password'}
      note="This logs out every other browser. Your keys stay as they are."
      action={async ({ password, current }) => {
        await postJson(`${CONSOLE}/password`, { password, ...(hasPassword && { current }) });
        toast('Your password is changed. Every other browser is logged out.');
        await Promise.all([sessions.refresh(), onChanged()]);
      }}
    >
      <h2>{hasPassword ? 'Change your password' : 'Set a password'}</h2>
      {/* Tells the password manager to which account the password belongs. */}
      <input
        hidden
        readOnly
        aria-hidden="true"
        autocomplete="username"
        value={currentSession().member.email}
      />
    </NewPasswordForm>
  );
}
