import { useEffect, useState } from 'preact/hooks';
import { readMy, useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { LinkButton } from '../../ui/button/button.js';
import { CopyIcon } from '../../ui/button/copy.js';
import { Menu } from '../../ui/button/menu.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { plural } from '../../ui/text/format.js';
import { useOwnProviders } from '../providers/own-providers.js';
import type { OwnProvider } from '../providers/own-providers.js';

type Wanted = MyResult<'model.wanted'>[number];

const EVERY_MS = 60_000;

/** What members of one's networks asked for and no GPU serves; nothing if there is none. */
export function MostWanted() {
  const { data = [] } = useMy('model.wanted', {}, { everyMs: EVERY_MS });
  return data.length === 0 ? null : <WantedTable rows={data} />;
}

function WantedTable({ rows }: { readonly rows: readonly Wanted[] }) {
  const machines = useMachinesThatPull();
  return (
    <section class="section models-wanted">
      <h2>Most wanted</h2>
      <p class="soft">{EXPLAINED}</p>
      <Table
        caption="Most wanted"
        saveAs="most-wanted"
        columns={columnsOf(machines)}
        rows={rows}
        rowKey={({ model }) => model}
      />
    </section>
  );
}

const EXPLAINED =
  'At least three members of one of your networks asked for these models in the last 30 days, ' +
  'and no GPU has them. Who asked is not told.';

function columnsOf(machines: readonly OwnProvider[]): readonly Column<Wanted>[] {
  return [
    {
      head: 'Id',
      isName: true,
      kind: 'grow',
      below: ({ members }) => `asked for by ${plural(members, 'member')}`,
      cell: ({ model }) => (
        <span class="model-id">
          <span class="mono">{model}</span>
          <CopyIcon text={model} label={`Copy ${model}`} />
        </span>
      ),
    },
    {
      head: 'Asked for by',
      kind: 'number',
      ifWide: true,
      cell: ({ members }) => plural(members, 'member'),
    },
    ...(machines.length === 0 ? [] : [pullColumn(machines)]),
  ];
}

function pullColumn(machines: readonly OwnProvider[]): Column<Wanted> {
  return {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: ({ model }) => <Pull model={model} machines={machines} />,
  };
}

interface PullProps {
  readonly model: string;
  readonly machines: readonly OwnProvider[];
}

/** Opens the dialog with the name filled in. */
function Pull({ model, machines }: PullProps) {
  const [first, second] = machines;
  const links = machines.map(({ id, name }) => (
    <LinkButton key={id} small href={`/providers/${id}?pull=${encodeURIComponent(model)}`}>
      {second === undefined ? 'Pull…' : `Pull to ${name}…`}
      <span class="unseen"> {model}</span>
    </LinkButton>
  ));
  return first !== undefined && second === undefined ? (
    <>{links}</>
  ) : (
    <Menu label={`Actions for ${model}`}>{links}</Menu>
  );
}

/** Each is asked over its link. */
const MAX_ASKED = 8;

/** The member's machines that let them pull models from the dashboard, asked once. */
function useMachinesThatPull(): readonly OwnProvider[] {
  const { data } = useOwnProviders();
  const online = (data ?? []).filter((one) => one.online).slice(0, MAX_ASKED);
  const [able, setAble] = useState<ReadonlySet<string>>(new Set());
  const ids = online.map(({ id }) => id).join(' ');
  useEffect(() => {
    let isOver = false;
    const asked = ids.split(' ').filter((id) => id !== '');
    void Promise.all(asked.map(async (id) => ((await mayPull(id)) ? [id] : []))).then((found) => {
      if (!isOver) setAble(new Set(found.flat()));
    });
    return () => {
      isOver = true;
    };
  }, [ids]);
  return online.filter(({ id }) => able.has(id));
}

/** False if it cannot be asked now: its own page says why. */
function mayPull(provider: string): Promise<boolean> {
  return readMy('provider.models', { provider }).then(
    (told) => told.state === 'on' && told.servers.some(({ can }) => can.includes('pull')),
    () => false,
  );
}
