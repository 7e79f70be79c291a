import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { Loaded } from '../../ui/table/loaded.js';
import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { MemberTable } from './member-table.js';
import { useNetwork } from './networks.js';
import type { Network } from './networks.js';
import { NameDialog } from './name-dialog.js';

interface NetworkCardProps {
  readonly network: Network;
  readonly onChange: () => Promise<void>;
}

/** A network and its members. */
export function NetworkCard({ network, onChange }: NetworkCardProps) {
  const { id, name, own, owner } = network;
  const shown = useNetwork(id);
  const change = async (): Promise<void> => {
    await Promise.all([shown.refresh(), onChange()]);
  };
  return (
    <section class="network-card" aria-label={name}>
      <div class="card-head">
        <div class="network-name">
          <h2>
            {name} {own && <Badge mood="accent">yours</Badge>}
          </h2>
          {!own && <p class="soft small">{owner}’s network</p>}
        </div>
        <NetworkMenu network={network} onChange={onChange} onMember={change} />
      </div>
      <Loaded of={shown} rows={network.members + 1}>
        {(known) => <MemberTable network={known} onChange={change} />}
      </Loaded>
    </section>
  );
}

interface NetworkMenuProps {
  readonly network: Network;
  readonly onChange: () => Promise<void>;
  /** Called after a member has been invited. */
  readonly onMember: () => Promise<void>;
}

type Open = 'invite' | 'rename' | 'end' | null;

function NetworkMenu({ network, onChange, onMember }: NetworkMenuProps) {
  const { id, name, own } = network;
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const rename = async (next: string): Promise<void> => {
    await my('network.rename', { network: id, name: next });
    await onChange();
  };
  return (
    <>
      {own && (
        <Button small icon="user-plus" onClick={() => setOpen('invite')}>
          Invite a member
        </Button>
      )}
      <Menu label={`Actions for ${name}`}>
        {own && (
          <Button tone="quiet" onClick={() => setOpen('rename')}>
            Rename…
          </Button>
        )}
        <Button tone="danger" onClick={() => setOpen('end')}>
          {own ? 'Delete…' : 'Leave…'}
        </Button>
      </Menu>
      {open === 'invite' && <InviteMember network={network} onDone={onMember} onClose={close} />}
      {open === 'rename' && (
        <NameDialog
          title={`Rename ${name}`}
          verb="Rename"
          name={name}
          onName={rename}
          onClose={close}
        />
      )}
      {open === 'end' && <EndNetwork network={network} onDone={onChange} onClose={close} />}
    </>
  );
}

interface EndNetworkProps {
  readonly network: Network;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Deletes an own network, or leaves that of another member. */
function EndNetwork({ network, onDone, onClose }: EndNetworkProps) {
  const { id, name, own } = network;
  const end = async (): Promise<void> => {
    await my(own ? 'network.delete' : 'network.leave', { network: id });
    toast(own ? `${name} is deleted.` : `You have left ${name}.`);
    await onDone();
  };
  const verb = own ? `Delete ${name}` : `Leave ${name}`;
  return (
    <Confirm
      title={`${verb}?`}
      text={own ? DELETES : LEAVES}
      verb={verb}
      action={end}
      onClose={onClose}
    />
  );
}

const DELETES =
  'All shares with it end at once. Its members stay members of the gateway. ' +
  'This cannot be taken back.';

const LEAVES =
  'You can no longer use what is shared with it. What you share with it stays shared until you ' +
  'remove the tick. To come back, its owner has to invite you.';

interface InviteMemberProps {
  readonly network: Network;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Invites somebody who already has an account; they accept or decline themselves. */
function InviteMember({ network, onDone, onClose }: InviteMemberProps) {
  const [member, setMember] = useState('');
  const invite = async (): Promise<void> => {
    const invited = await my('network.add', { network: network.id, member: member.trim() });
    toast(`${invited.member} is invited to ${invited.name}. They find it under Network.`);
    await onDone();
  };
  return (
    <FormDialog
      title={`Invite a member to ${network.name}`}
      verb="Invite"
      action={invite}
      onClose={onClose}
    >
      <NameField
        hint="Their public name. Somebody without an account needs an invite link."
        value={member}
        onValue={setMember}
      />
    </FormDialog>
  );
}
