import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import { InviteMember } from './invite-member.js';
import { NameDialog } from './name-dialog.js';
import type { Network } from './networks.js';

interface NetworkMenuProps {
  readonly network: Network;
  readonly onChange: () => Promise<void>;
  /** Somebody is invited now. */
  readonly onMember: () => Promise<void>;
}

type Open = 'invite' | 'rename' | 'end' | null;

export function NetworkMenu({ network, onChange, onMember }: NetworkMenuProps) {
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

/** For all, where it is one's own; else for oneself. */
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
  'Whatever anybody shares with it is shared no more, at once. Its members stay members of the ' +
  'gateway. This cannot be taken back.';
const LEAVES =
  'You can no longer use what is shared with it. What you share with it stays shared until you ' +
  'take the tick away. To come back, its owner has to invite you.';
