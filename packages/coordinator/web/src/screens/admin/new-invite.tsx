import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import { LISTS } from './every.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { DAY_S } from '../../ui/text/last-days.js';
import { OnceDialog } from '../../ui/dialog/dialog.js';

const ROLES = [
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
] as const;
const LIVES = [
  { value: '1', label: 'In 1 day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
] as const;

/** Part of the list of users and that of invites. */
export function InviteButton() {
  const [isInviting, setInviting] = useState(false);
  return (
    <>
      <Button tone="primary" icon="user-plus" onClick={() => setInviting(true)}>
        Invite somebody
      </Button>
      {isInviting && <NewInvite onClose={() => setInviting(false)} />}
    </>
  );
}

interface NewInviteProps {
  readonly onClose: () => void;
}

interface Made {
  readonly email: string;
  readonly link: string;
}

/** Asks for the e-mail address, and shows the link once. */
function NewInvite({ onClose }: NewInviteProps) {
  const [made, setMade] = useState<Made | null>(null);
  if (made === null) return <InviteForm onMade={setMade} onClose={onClose} />;
  return (
    <OnceDialog title={`The invite for ${made.email}`} what="the link" onClose={onClose}>
      <p>Send them this link yourself. It is shown only now, and lets one person join, once.</p>
      <Code text={made.link} label="Copy the link" />
    </OnceDialog>
  );
}

function InviteForm({ onMade, onClose }: NewInviteProps & { onMade: (made: Made) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]['value']>('member');
  const [network, setNetwork] = useState('');
  const [days, setDays] = useState<(typeof LIVES)[number]['value']>('7');
  const networks = useAdmin('network.list', {}, LISTS).data ?? [];
  const invites = useAdmin('user.invites', {}, LISTS);
  const create = async (): Promise<boolean> => {
    const invited = await admin('user.invite', {
      email: email.trim(),
      admin: role === 'admin',
      network: network === '' ? null : network,
      expires_in_s: Number(days) * DAY_S,
    });
    const origin = invited.origin ?? location.origin;
    onMade({ email: invited.email, link: `${origin}/join#${invited.secret}` });
    void invites.refresh();
    return false;
  };
  return (
    <FormDialog title="Invite somebody" verb="Create the link" action={create} onClose={onClose}>
      <TextField
        label="E-mail"
        hint="They log in with it. Nothing is sent: you get a link to pass on."
        type="email"
        required
        autofocus
        value={email}
        onValue={setEmail}
      />
      <SelectField label="Role" value={role} options={ROLES} onValue={setRole} />
      <SelectField
        label="Network"
        hint="They join it together with the gateway."
        value={network}
        options={[
          { value: '', label: 'None' },
          ...networks.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onValue={setNetwork}
      />
      <SelectField label="The link expires" value={days} options={LIVES} onValue={setDays} />
    </FormDialog>
  );
}
