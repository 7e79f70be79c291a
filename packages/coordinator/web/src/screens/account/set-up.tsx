import { useEffect, useState } from 'preact/hooks';
import { asFault } from '../../api/fault.js';
import type { Fault } from '../../api/fault.js';
import { postJson, request } from '../../api/request.js';
import { loadSession } from '../../api/session.js';
import { LinkButton } from '../../ui/button/button.js';
import { Loading } from '../../ui/table/states.js';
import { useLinkSecret } from './link-secret.js';
import { NewMemberForm } from './new-member.js';
import { Welcome } from './welcome.js';

const PATH = '/api/setup';
const LEAD =
  'You are the first member, so you become the admin. Everybody else joins with an invite.';

/** Creates the first administrator; open until there is a member. */
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

const LINK = { label: 'Setup link', hint: 'The coordinator printed it when it started.' };

function FirstAdmin({ secret }: { readonly secret: string }) {
  return (
    <NewMemberForm
      secret={secret}
      link={LINK}
      nameHint="Members see it."
      needsEmail
      verb="Create the admin account"
      action={async (typed) => {
        await postJson(PATH, typed);
        await loadSession();
      }}
    />
  );
}
