import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu } from '../../ui/button/menu.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { Member, NetworkDetail } from './networks.js';

interface MemberMenuProps {
  readonly member: Member;
  readonly network: NetworkDetail;
  readonly isBlocked: boolean;
  readonly onChange: () => Promise<void>;
  readonly onBlock: () => Promise<void>;
}

type Open = 'block' | 'remove' | null;

/** What may be done with somebody else. */
export function MemberMenu({ member, network, isBlocked, onChange, onBlock }: MemberMenuProps) {
  const { id, name } = member;
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const block = async (): Promise<void> => {
    await my('provider.block', { member: id });
    toast(`${name} is blocked.`);
    await onBlock();
  };
  const unblock = useToastedAct(async () => {
    await my('provider.unblock', { member: id });
    toast(`${name} is no longer blocked.`);
    await onBlock();
  });
  const remove = async (): Promise<void> => {
    await my('network.remove', { network: network.id, member: id });
    toast(`${name} is no longer in ${network.name}.`);
    await onChange();
  };
  if (id === currentSession().member.id) return null;
  return (
    <>
      <Menu label={`Actions for ${name} in ${network.name}`}>
        {isBlocked ? (
          <Button tone="quiet" onClick={() => void unblock.run()}>
            Unblock
          </Button>
        ) : (
          <Button tone="quiet" onClick={() => setOpen('block')}>
            Block…
          </Button>
        )}
        {network.own && (
          <Button tone="danger" onClick={() => setOpen('remove')}>
            Remove…
          </Button>
        )}
      </Menu>
      {open === 'block' && (
        <Confirm
          title={`Block ${name}?`}
          text={`${name} gets nothing of what you share ${UNTIL_UNBLOCKED}`}
          verb={`Block ${name}`}
          action={block}
          onClose={close}
        />
      )}
      {open === 'remove' && (
        <Confirm
          title={`Remove ${name} from ${network.name}?`}
          text={`${name} can no longer use what is shared with ${network.name}. ${WHAT_RUNS}`}
          verb={`Remove ${name}`}
          action={remove}
          onClose={close}
        />
      )}
    </>
  );
}

const UNTIL_UNBLOCKED = 'in any network, until you unblock them. They are not told.';
const WHAT_RUNS = 'What runs for them is finished; what waits is not.';
