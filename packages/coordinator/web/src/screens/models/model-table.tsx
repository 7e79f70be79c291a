import { Badge } from '../../ui/figures/badge.js';
import { LinkButton } from '../../ui/button/button.js';
import { CopyIcon } from '../../ui/button/copy.js';
import { formatCount, formatShort, formatSpeed, plural } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Short, Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import type { ModelRow } from './model-rows.js';

export function ModelTable({ rows }: { readonly rows: readonly ModelRow[] }) {
  return (
    <Table
      caption="Models"
      saveAs="models"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ key }) => key}
    />
  );
}

const COLUMNS: readonly Column<ModelRow>[] = [
  {
    head: 'Id',
    isName: true,
    kind: 'grow',
    below: (row) => (
      <>
        {typeLabel(row.type)}, <WhoseBelow row={row} />
      </>
    ),
    cell: ({ id, aliasOf }) => (
      <>
        <span class="model-id">
          <span class="mono">{id}</span>
          <CopyIcon text={id} label={`Copy ${id}`} />
        </span>
        {aliasOf.length > 0 && (
          <span class="model-chain small soft">alias of {aliasOf.join(', then ')}</span>
        )}
      </>
    ),
  },
  { head: 'Type', ifWide: true, cell: (row) => <Type row={row} /> },
  { head: 'Free slots', kind: 'number', cell: (row) => <Slots row={row} /> },
  { head: 'Speed', kind: 'number', ifWide: true, cell: (row) => <Speed row={row} /> },
  {
    head: 'Context',
    kind: 'number',
    ifWide: true,
    ifRoom: true,
    cell: ({ context }) => <Context tokens={context} />,
  },
  {
    head: 'Features',
    ifWide: true,
    ifRoom: true,
    cell: ({ features }) => <Features names={features} />,
  },
  { head: 'Owner', ifWide: true, cell: (row) => <Whose row={row} /> },
  { head: 'Actions', unseenHead: true, kind: 'end', cell: (row) => <Try row={row} /> },
];

const TOKENS_A_K = 1024;

/** `128K`, if it is a multiple of 1,024. */
function Context({ tokens }: { readonly tokens: number | null }) {
  if (tokens === null) return <None />;
  const isWhole = tokens % TOKENS_A_K === 0;
  const shown = isWhole ? `${formatCount(tokens / TOKENS_A_K)}K` : formatShort(tokens);
  return <span title={`${formatCount(tokens)} tokens`}>{shown}</span>;
}

function None() {
  return <span class="soft">–</span>;
}

/** With what it reads and what it makes. */
function Type({ row: { type, inputs, outputs } }: { readonly row: ModelRow }) {
  return (
    <>
      {typeLabel(type)}
      <span class="model-below soft small">
        {inputs.join(', ')} → {outputs.join(', ')}
      </span>
    </>
  );
}

function Features({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <None />;
  return (
    <span class="model-features">
      {names.map((name) => (
        <Badge key={name}>{name.replaceAll('_', ' ')}</Badge>
      ))}
    </span>
  );
}

/** On all its providers. */
function Slots({ row: { slots, freeSlots, providers } }: { readonly row: ModelRow }) {
  return (
    <>
      <span class={freeSlots === 0 ? 'warn' : ''}>
        {formatCount(freeSlots)} of {formatCount(slots)}
      </span>
      <span class="model-below soft small">{plural(providers, 'provider')}</span>
    </>
  );
}

function Speed({ row: { tokensPerSecond: speed } }: { readonly row: ModelRow }) {
  if (speed === null)
    return (
      <span class="soft" title="Too few requests yet to measure it">
        –
      </span>
    );
  return <span title="Measured on its fastest provider">{formatSpeed(speed)}</span>;
}

function Whose({ row: { isOwn, sharedBy } }: { readonly row: ModelRow }) {
  const names = sharedBy.join(', ');
  if (!isOwn) return names === '' ? <None /> : <Short text={names} />;
  return (
    <>
      <Badge mood="accent">yours</Badge>
      {names !== '' && (
        <span class="soft small">
          <Short text={`and ${names}`} />
        </span>
      )}
    </>
  );
}

function WhoseBelow({ row: { isOwn, sharedBy } }: { readonly row: ModelRow }) {
  return <>{[...(isOwn ? ['yours'] : []), ...sharedBy].join(', ')}</>;
}

/** The playground's address for each type. */
const TRIED: Readonly<Partial<Record<ModelRow['type'], string>>> = {
  llm: 'chat',
  image: 'image',
  tts: 'speech',
  stt: 'transcribe',
  music: 'music',
  video: 'video',
};

function Try({ row: { id, type } }: { readonly row: ModelRow }) {
  const kind = TRIED[type];
  if (kind === undefined) return null;
  return (
    <LinkButton small href={`/playground/${kind}?model=${encodeURIComponent(id)}`}>
      Try<span class="unseen"> {id}</span>
    </LinkButton>
  );
}
