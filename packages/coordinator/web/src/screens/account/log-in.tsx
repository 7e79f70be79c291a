import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import type { Fault } from '../../api/fault.js';
import { logIn } from '../../api/log-in.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Banner } from '../../ui/dialog/banner.js';
import { TextField } from '../../ui/form/field.js';
import { PasswordField } from '../../ui/form/password-field.js';
import { FaultText } from '../../ui/table/states.js';
import {
  goToProvider,
  hasPasskeys,
  logInByPasskey,
  problemText,
  useLogInMethods,
} from './log-in-methods.js';
import { Welcome } from './welcome.js';

/** Shown at the requested address. After the log-in, that address shows its own screen. */
export function LogIn() {
  const { path, query } = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const act = useAct(() => logIn(email, password));
  const waitS = useWait(act.fault);
  const problem = path === '/login' ? problemText(query['problem']) : null;
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <Welcome title="Log in" lead="No account yet? Ask an admin for an invite link.">
      {problem !== null && <Banner mood="warn" text={problem} />}
      <form class="form" onSubmit={submit}>
        <TextField
          label="E-mail"
          type="email"
          autocomplete="username"
          required
          autofocus
          value={email}
          onValue={setEmail}
        />
        <PasswordField
          label="Password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
        />
        <FaultText fault={act.fault} />
        <Button type="submit" tone="primary" busy={act.isBusy} disabled={waitS > 0}>
          {waitS > 0 ? `Wait ${waitS} s` : 'Log in'}
        </Button>
      </form>
      <OtherWays />
    </Welcome>
  );
}

/** Those that the gateway offers, and this browser can use. */
function OtherWays() {
  const { path, query } = useLocation();
  const ways = useLogInMethods();
  const passkey = useAct(logInByPasskey);
  const provider = useAct(() =>
    goToProvider({ next: path === '/login' ? (query['next'] ?? '/') : path + location.search }),
  );
  return (
    <>
      {hasPasskeys(ways) && (
        <Button icon="key-round" busy={passkey.isBusy} onClick={() => void passkey.run()}>
          Log in with a passkey
        </Button>
      )}
      {ways !== null && ways.oidc !== null && (
        <Button icon="external-link" busy={provider.isBusy} onClick={() => void provider.run()}>
          Log in with {ways.oidc.name}
        </Button>
      )}
      <FaultText fault={passkey.fault ?? provider.fault} />
    </>
  );
}

/**
 * Seconds until the next try is allowed: the coordinator limits tries after too many wrong
 * passwords.
 */
function useWait(fault: Fault | null): number {
  const [waitS, setWait] = useState(0);
  useEffect(() => {
    const afterS = fault?.retryAfterS ?? 0;
    const endsAt = performance.now() + afterS * 1_000;
    const tick = (): void => setWait(Math.max(0, Math.ceil((endsAt - performance.now()) / 1_000)));
    tick();
    if (afterS === 0) return undefined;
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [fault]);
  return waitS;
}
