import { logIn } from '../../api/log-in.js';
import { postJson } from '../../api/request.js';
import { logOut, session } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { FaultText } from '../../ui/table/states.js';
import { dropSecret, useLinkSecret } from './link-secret.js';
import { NewMemberForm } from './new-member.js';
import type { NewMember } from './new-member.js';
import { goToProvider, useWays } from './ways-in.js';
import { Welcome } from './welcome.js';

const LINK = { label: 'Invite link', hint: 'The whole link from your invite. It works once.' };

/** Accepts an invite: creates the member and logs in. */
export function Join() {
  const secret = useLinkSecret();
  const member = session.value?.member;
  if (member !== undefined) return <InAlready name={member.name} />;
  return (
    <Welcome title="Join" lead="You are invited. Choose how others see you, and a password.">
      <NewMemberForm
        secret={secret}
        link={LINK}
        nameHint="Everybody in your networks sees it."
        verb="Join"
        action={join}
      >
        <p class="soft small">
          Joined already? <a href="/login">Log in</a>
        </p>
      </NewMemberForm>
      {secret !== '' && <JoinByProvider secret={secret} />}
    </Welcome>
  );
}

/** With an account elsewhere instead of a password. */
function JoinByProvider({ secret }: { readonly secret: string }) {
  const provider = useWays()?.oidc ?? null;
  const act = useAct(() => goToProvider({ token: secret }));
  if (provider === null) return null;
  return (
    <>
      <Button icon="external-link" busy={act.isBusy} onClick={() => void act.run()}>
        Join with {provider.name}
      </Button>
      <FaultText fault={act.fault} />
    </>
  );
}

/**
 * Shown to members who are logged in: the invite is for somebody else, or was opened by mistake. It
 * stays valid until it is used.
 */
function InAlready({ name }: { readonly name: string }) {
  const leave = useAct(logOut);
  const lead = `You are logged in as ${name}. Log out to accept this invite as somebody new.`;
  return (
    <Welcome title="Join" lead={lead}>
      <FaultText fault={leave.fault} />
      <div class="row">
        <Button tone="primary" icon="log-out" busy={leave.isBusy} onClick={() => void leave.run()}>
          Log out
        </Button>
        <LinkButton href="/">Stay logged in</LinkButton>
      </div>
    </Welcome>
  );
}

async function join({ token, name, password }: NewMember): Promise<void> {
  const joining = { token, name, password };
  const { email } = await postJson<{ readonly email: string }>('/api/join', joining);
  dropSecret();
  await logIn(email, password);
}
