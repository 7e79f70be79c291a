import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useBlocks } from './networks.js';
import type { Network } from './networks.js';

/** All blocked members, including those who are no longer in these networks. */
export function Blocked({ networks }: { readonly networks: readonly Network[] }) {
  const { data, refresh } = useBlocks();
  const unblock = useToastedAct(async ({ id, name }: { id: string; name: string }) => {
    await my('provider.unblock', { member: id });
    toast(`${name} is no longer blocked.`);
    await refresh();
  });
  if (data === undefined || data.length === 0 || networks.length === 0) return null;
  return (
    <div class="blocked">
      <span class="soft">You block</span>
      {data.map((one) => (
        <span key={one.id} class="row">
          {one.name}
          <Button
            small
            aria-label={`Unblock ${one.name}`}
            busy={unblock.isBusy}
            onClick={() => void unblock.run(one)}
          >
            Unblock
          </Button>
        </span>
      ))}
    </div>
  );
}
