import { Badge } from '../../ui/figures/badge.js';
import { Loaded } from '../../ui/table/loaded.js';
import { MemberTable } from './member-table.js';
import { NetworkMenu } from './network-menu.js';
import { useNetwork } from './networks.js';
import type { Network } from './networks.js';

interface NetworkCardProps {
  readonly network: Network;
  readonly onChange: () => Promise<void>;
}

/** A network and who is in it. */
export function NetworkCard({ network, onChange }: NetworkCardProps) {
  const { id, name, own, owner } = network;
  const shown = useNetwork(id);
  const change = async (): Promise<void> => {
    await Promise.all([shown.refresh(), onChange()]);
  };
  return (
    <section class="network-card" aria-label={name}>
      <div class="card-head">
        <h2>
          {name} {own && <Badge mood="accent">yours</Badge>}
        </h2>
        {!own && <span class="soft small">{owner}’s network</span>}
        <NetworkMenu network={network} onChange={onChange} onMember={change} />
      </div>
      <Loaded of={shown} rows={network.members + 1}>
        {(known) => <MemberTable network={known} onChange={change} />}
      </Loaded>
    </section>
  );
}
