import { useEffect, useState } from 'preact/hooks';
import { asFault } from '../../api/fault.js';
import type { Fault } from '../../api/fault.js';
import { postJson, request } from '../../api/request.js';
import { loadSession } from '../../api/session.js';
import { useAct } from '../../ui/act.js';
import { Button, LinkButton } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/password-field.js';
import { Loading } from '../../ui/states.js';
import { useLinkSecret } from './link-secret.js';
import { OtherFault, wrongIn } from '../../ui/other-fault.js';
import { Welcome } from './welcome.js';

const PATH = '/api/setup';
const LEAD = 'You are the first here, and its admin. Everybody else joins by your invites.';

/** The first admin's way in, open for as long as nobody is a member. */
export function SetUp() {
  const secret = useLinkSecret();
  const [state, setState] = useState<Fault | 'open' | 'unknown'>('unknown');
  useEffect(() => {
    request(PATH).then(
      () => setState('open'),
      (thrown: unknown) => setState(asFault(thrown)),
    );
  }, []);
  return (
    <Welcome title="Set up this gateway" lead={state === 'open' ? LEAD : ''}>
      {state === 'unknown' && <Loading rows={4} />}
      {state === 'open' && <FirstAdmin secret={secret} />}
      {typeof state === 'object' && <Closed fault={state} />}
    </Welcome>
  );
}

function Closed({ fault }: { readonly fault: Fault }) {
  return (
    <div class="stack" role="alert">
      <p>{fault.message}</p>
      <LinkButton href="/login">Log in</LinkButton>
    </div>
  );
}

const FIELDS = ['name', 'email', 'password'];

function FirstAdmin({ secret }: { readonly secret: string }) {
  const [link, setLink] = useState('');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const act = useAct(async () => {
    await postJson(PATH, { token: secret || link, name, email, password });
    await loadSession();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="form" onSubmit={submit}>
      {secret === '' && (
        <TextField
          label="Setup link"
          hint="The coordinator printed it when it started."
          required
          value={link}
          onValue={setLink}
        />
      )}
      <TextField
        label="Name"
        hint="Members see it."
        autocomplete="nickname"
        required
        autofocus
        maxLength={64}
        wrong={wrongIn(act.fault, 'name')}
        value={name}
        onValue={setName}
      />
      <TextField
        label="E-mail"
        hint="You log in with it."
        type="email"
        autocomplete="username"
        required
        wrong={wrongIn(act.fault, 'email')}
        value={email}
        onValue={setEmail}
      />
      <PasswordField
        label="Password"
        hint={PASSWORD_HINT}
        autocomplete="new-password"
        wrong={wrongIn(act.fault, 'password')}
        value={password}
        onValue={setPassword}
      />
      <OtherFault fault={act.fault} fields={FIELDS} />
      <Button type="submit" tone="primary" busy={act.isBusy}>
        Create the admin account
      </Button>
    </form>
  );
}
