import type { MyResult } from '../../api/commands.js';
import { OnlineBadge } from '../../ui/figures/badge.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { limitsText } from '../sharing/shares.js';
import { useReceived } from './networks.js';

type Received = MyResult<'share.received'>[number];

/** What others let one use. */
export function Received({ isAlone }: { readonly isAlone: boolean }) {
  const received = useReceived();
  // Whoever is alone has read above what to do.
  if (isAlone && !received.data?.length) return null;
  return (
    <section class="section network-part">
      <h2>Shared with you</h2>
      <Loaded of={received} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon="share-2" title="Nobody shares anything with you yet." text={ASK} />
          ) : (
            <Table
              caption="Shared with you"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </section>
  );
}

const ASK = 'Ask somebody in your network. What they share shows up here and in Models.';

const COLUMNS: readonly Column<Received>[] = [
  {
    head: 'What',
    isName: true,
    kind: 'grow',
    below: (share) => belowOf(share),
    cell: ({ model, service_id: service }) =>
      model === null && service === null ? (
        'Everything'
      ) : (
        <span class="mono">{model ?? service}</span>
      ),
  },
  { head: 'Of', ifWide: true, cell: ({ provider }) => provider },
  { head: 'State', cell: ({ online }) => <OnlineBadge online={online} /> },
  { head: 'Through', ifWide: true, cell: ({ network }) => network ?? 'you alone' },
  {
    head: 'Limits',
    ifWide: true,
    cell: (share) => limitsText(share) || <span class="soft">none</span>,
  },
  { head: 'Since', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

/** Whose it is, and with how much of it. */
function belowOf(share: Received): string {
  const { provider, network } = share;
  const way = network === null ? 'with you alone' : `through ${network}`;
  return [provider, way, limitsText(share)].filter((part) => part !== '').join(', ');
}
