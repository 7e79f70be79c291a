import { logIn } from '../../api/log-in.js';
import { useEffect, useState } from 'preact/hooks';
import { asFault } from '../../api/fault.js';
import { postJson } from '../../api/request.js';
import { logOut, session } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { FaultText } from '../../ui/table/states.js';
import { dropSecret, useLinkSecret } from './link-secret.js';
import { NewMemberForm } from './new-member.js';
import type { NewMember } from './new-member.js';
import { goToProvider, useLogInMethods } from './log-in-methods.js';
import { Welcome } from './welcome.js';

const LINK = { label: 'Invite link', hint: 'The whole link from your invite. It works once.' };

/** Accepts an invite: creates the member and logs in. */
export function Join() {
  const secret = useLinkSecret();
  const invite = useInvite(secret);
  const member = session.value?.member;
  if (member !== undefined) return <InAlready name={member.name} invite={invite} />;
  return (
    <Welcome title="Join" lead={`${invitation(invite)} Choose how others see you, and a password.`}>
      {typeof invite === 'string' && <p class="bad">{invite}</p>}
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
  const provider = useLogInMethods()?.oidc ?? null;
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

/** What the coordinator tells the holder of an open invite. */
interface OpenInvite {
  readonly inviter: string | null;
  readonly network: string | null;
  readonly gateway: string;
}

/** Null until it is known; a text if the link is not accepted. */
function useInvite(secret: string): OpenInvite | string | null {
  const [invite, setInvite] = useState<OpenInvite | string | null>(null);
  useEffect(() => {
    if (secret === '') return;
    postJson<OpenInvite>('/api/join/invite', { token: secret }).then(setInvite, (thrown: unknown) =>
      setInvite(asFault(thrown).message),
    );
  }, [secret]);
  return invite;
}

/** `Anna invites you to the network friends on gateway.example.org.` */
function invitation(invite: OpenInvite | string | null): string {
  if (invite === null || typeof invite === 'string') return 'You are invited.';
  const { inviter, network, gateway } = invite;
  const who = inviter === null ? 'You are invited' : `${inviter} invites you`;
  const host = URL.canParse(gateway) ? new URL(gateway).host : gateway;
  return `${who} to ${network === null ? '' : `the network ${network} on `}${host}.`;
}

/**
 * Shown to members who are logged in: the invite is for somebody else, or was opened by mistake. It
 * stays valid until it is used.
 */
function InAlready({ name, invite }: InAlreadyProps) {
  const leave = useAct(logOut);
  const isKnown = invite !== null && typeof invite !== 'string';
  const asked = `You are logged in as ${name}. Log out to accept this invite as somebody new.`;
  const lead = isKnown ? `${invitation(invite)} ${asked}` : asked;
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

interface InAlreadyProps {
  readonly name: string;
  readonly invite: OpenInvite | string | null;
}

async function join({ token, name, password }: NewMember): Promise<void> {
  const joining = { token, name, password };
  const { email } = await postJson<{ readonly email: string }>('/api/join', joining);
  dropSecret();
  await logIn(email, password);
}
