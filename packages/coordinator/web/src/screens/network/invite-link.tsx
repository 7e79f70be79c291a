import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { OnceDialog } from '../../ui/dialog/dialog.js';
import { Ago } from '../../ui/text/time.js';
import type { MadeInvite } from './networks.js';

interface InviteLinkProps {
  readonly made: MadeInvite;
  readonly onClose: () => void;
}

/** The whole link, this once. */
export function InviteLink({ made, onClose }: InviteLinkProps) {
  const origin = made.origin ?? currentSession().gateway.public_url;
  return (
    <OnceDialog title={`The invite for ${made.email}`} what="the link" onClose={onClose}>
      <p>
        Give them this link yourself. Whoever has it can join {made.network} once, as {made.email};
        it ends <Ago at={made.expires_at} />. It is not shown again.
      </p>
      <Code text={`${origin}/join#${made.secret}`} label="Copy the invite link" />
    </OnceDialog>
  );
}
