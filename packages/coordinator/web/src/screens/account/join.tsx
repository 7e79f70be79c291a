import { useState } from 'preact/hooks';
import { postJson } from '../../api/request.js';
import { logIn } from '../../api/log-in.js';
import { useAct } from '../../ui/act.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/password-field.js';
import { useLinkSecret } from './link-secret.js';
import { OtherFault, wrongIn } from '../../ui/other-fault.js';
import { Welcome } from './welcome.js';

const FIELDS = ['name', 'password'];

/** With an invite one becomes a member, and is in. */
export function Join() {
  const secret = useLinkSecret();
  const [link, setLink] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const act = useAct(() => join({ token: secret || link, name, password }));
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <Welcome title="Join" lead="You are invited. Choose how others see you, and a password.">
      <form class="form" onSubmit={submit}>
        {secret === '' && (
          <TextField
            label="Invite link"
            hint="The whole link from your invite. It works once."
            required
            value={link}
            onValue={setLink}
          />
        )}
        <TextField
          label="Name"
          hint="Everybody in your networks sees it."
          autocomplete="nickname"
          required
          autofocus
          maxLength={64}
          wrong={wrongIn(act.fault, 'name')}
          value={name}
          onValue={setName}
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
          Join
        </Button>
        <p class="soft small">
          Joined already? <a href="/login">Log in</a>
        </p>
      </form>
    </Welcome>
  );
}

interface Joining {
  readonly token: string;
  readonly name: string;
  readonly password: string;
}

async function join(joining: Joining): Promise<void> {
  const { email } = await postJson<{ readonly email: string }>('/api/join', joining);
  await logIn(email, joining.password);
}
