import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { formatCount, plural } from '../../ui/text/format.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import { NameNetwork, NewNetwork } from './name-network.js';
import { NetworkMembers } from './network-members.js';
import type { RowAction } from './row-menu.js';

type Network = AdminResult<'network.list'>[number];

export function Networks() {
  const [isCreating, setCreating] = useState(false);
  const list = useAdmin('network.list', {}, LISTS);
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      Create network
    </Button>
  );
  return (
    <>
      <Listing
        caption="Networks"
        what="network"
        list={list}
        columns={COLUMNS}
        nameOf={({ name }) => name}
        wordsOf={({ name, owner }) => [name, owner]}
        actionsOf={(network) => actionsOf(network, list.refresh)}
        action={create}
        emptyText="In a network, members share their GPUs with each other."
      />
      {isCreating && <NewNetwork onDone={list.refresh} onClose={() => setCreating(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<Network>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: ({ owner, shares }) => `${owner}’s, ${plural(shares, 'share')}`,
    cell: ({ name }) => name,
  },
  { head: 'Owner', ifWide: true, cell: ({ owner }) => owner },
  { head: 'Members', kind: 'number', cell: ({ members }) => formatCount(members) },
  {
    head: 'Shares',
    kind: 'number',
    ifWide: true,
    cell: ({ shares }) => formatCount(shares),
  },
  { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

function actionsOf(network: Network, refresh: () => Promise<void>): readonly RowAction[] {
  const { id, name, shares } = network;
  return [
    {
      kind: 'form',
      text: 'Members',
      form: (close) => <NetworkMembers network={id} onChange={refresh} onClose={close} />,
    },
    {
      kind: 'form',
      text: 'Rename',
      form: (close) => <NameNetwork {...network} onDone={refresh} onClose={close} />,
    },
    {
      kind: 'ask',
      text: 'Delete',
      title: `Delete the network ${name}?`,
      explain:
        `Its members stay members of the gateway. What is shared with it is shared no more: ` +
        `${plural(shares, 'share')}. This cannot be taken back.`,
      async run() {
        await admin('network.delete', { network: id });
        return `${name} is deleted.`;
      },
    },
  ];
}
