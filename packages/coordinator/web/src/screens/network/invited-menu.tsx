import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { Invited, NetworkDetail } from './networks.js';

interface InvitedMenuProps {
  readonly invited: Invited;
  readonly network: NetworkDetail;
  readonly onChange: () => Promise<void>;
}

/** What may be done with somebody who has not answered yet. */
export function InvitedMenu({ invited, network, onChange }: InvitedMenuProps) {
  const { id, name } = invited;
  const withdraw = useToastedAct(async () => {
    await my('network.uninvite', { network: network.id, member: id });
    toast(`${name} is no longer invited to ${network.name}.`);
    await onChange();
  });
  return (
    <Button
      small
      busy={withdraw.isBusy}
      aria-label={`Withdraw the invitation of ${name} to ${network.name}`}
      onClick={() => void withdraw.run()}
    >
      Withdraw
    </Button>
  );
}
