import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useInvitations } from './networks.js';

type Invitation = MyResult<'network.invitations'>[number];

/** Networks that want one as a member: nobody is in one before they have said so. */
export function Invitations({ onJoined }: { readonly onJoined: () => Promise<void> }) {
  const { data, refresh } = useInvitations();
  if (data === undefined || data.length === 0) return null;
  const change = async (): Promise<void> => {
    await Promise.all([refresh(), onJoined()]);
  };
  return (
    <section class="invitations" aria-label="Invitations to you">
      {data.map((invitation) => (
        <InvitationCard key={invitation.id} invitation={invitation} onChange={change} />
      ))}
    </section>
  );
}

interface InvitationCardProps {
  readonly invitation: Invitation;
  readonly onChange: () => Promise<void>;
}

function InvitationCard({ invitation, onChange }: InvitationCardProps) {
  const { id, name, invited_by: by, invited_at: at } = invitation;
  const accept = useToastedAct(async () => {
    await my('network.accept', { network: id });
    toast(`You are in ${name} now.`);
    await onChange();
  });
  const decline = useToastedAct(async () => {
    await my('network.decline', { network: id });
    toast(`You have declined the invitation to ${name}.`);
    await onChange();
  });
  const isBusy = accept.isBusy || decline.isBusy;
  return (
    <section class="card" aria-label={`Invitation to ${name}`}>
      <div class="card-head">
        <h2>
          {by} invites you to {name}
        </h2>
        <span class="soft small">
          <Ago at={at} />
        </span>
      </div>
      <p class="soft">{JOINING}</p>
      <div class="row">
        <Button tone="primary" busy={isBusy} onClick={() => void accept.run()}>
          Accept
        </Button>
        <Button busy={isBusy} onClick={() => void decline.run()}>
          Decline
        </Button>
      </div>
    </section>
  );
}

const JOINING =
  'Your calls may then run on machines that its members share with it; what you share stays ' +
  'yours to decide.';
