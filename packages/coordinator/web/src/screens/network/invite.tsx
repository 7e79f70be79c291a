import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { OnceDialog } from '../../ui/dialog/dialog.js';
import { Ago } from '../../ui/text/time.js';
import { useInvites } from './networks.js';
import type { MadeInvite, Network } from './networks.js';

interface InviteProps {
  /** The networks that the member owns; at least one. */
  readonly networks: readonly Network[];
  readonly onClose: () => void;
}

/** Creates an invite link for one person, and shows it once. */
export function Invite({ networks, onClose }: InviteProps) {
  const [made, setMade] = useState<MadeInvite | null>(null);
  const invites = useInvites();
  const show = (invite: MadeInvite): void => {
    setMade(invite);
    void invites.refresh();
  };
  return made === null ? (
    <InviteForm networks={networks} onMade={show} onClose={onClose} />
  ) : (
    <InviteLink made={made} onClose={onClose} />
  );
}

const LIVES = [
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
] as const;

interface InviteFormProps extends InviteProps {
  readonly onMade: (invite: MadeInvite) => void;
}

function InviteForm({ networks, onMade, onClose }: InviteFormProps) {
  const [email, setEmail] = useState('');
  const [network, setNetwork] = useState(networks[0]?.id ?? '');
  const [life, setLife] = useState<(typeof LIVES)[number]['value']>('604800');
  const invite = async (): Promise<false> => {
    const wanted = { email: email.trim(), network, expires_in_s: Number(life) };
    onMade(await my('user.invite', wanted));
    return false;
  };
  return (
    <FormDialog title="Invite somebody" verb="Create the link" action={invite} onClose={onClose}>
      <TextField
        label="E-mail"
        hint="They log in with it. Nothing is sent: you give them the link yourself."
        type="email"
        required
        autofocus
        autocomplete="off"
        value={email}
        onValue={setEmail}
      />
      <SelectField
        label="Network"
        value={network}
        options={networks.map(({ id, name }) => ({ value: id, label: name }))}
        onValue={setNetwork}
      />
      <SelectField label="Good for" value={life} options={LIVES} onValue={setLife} />
    </FormDialog>
  );
}

interface InviteLinkProps {
  readonly made: MadeInvite;
  readonly onClose: () => void;
}

/** The whole link, which is shown only once. */
function InviteLink({ made, onClose }: InviteLinkProps) {
  const origin = made.origin ?? currentSession().gateway.public_url;
  return (
    <OnceDialog title={`The invite for ${made.email}`} what="the link" onClose={onClose}>
      <p>
        Give them this link yourself. Anybody who has it can join {made.network} once, as{' '}
        {made.email}; it ends <Ago at={made.expires_at} />. It is not shown again.
      </p>
      <Code text={`${origin}/join#${made.secret}`} label="Copy the invite link" />
    </OnceDialog>
  );
}
