import { useLocation } from 'preact-iso';
import { useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { formatDate } from '../../ui/text/dates.js';
import { capitalized } from '../../ui/text/format.js';
import { DAY_S } from '../../ui/text/last-days.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { useClearQuery } from '../../ui/form/query.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { PAGE_ROWS, useAdminPages } from './admin-pages.js';
import { LISTS } from './every.js';
import { FacetBar, chosenOf } from './facet-bar.js';

type Entry = AdminResult<'audit.list'>[number];

const SINCE = {
  name: 'since',
  label: 'Since',
  options: [
    { value: '1', label: '1 day' },
    { value: '7', label: '7 days' },
    { value: '30', label: '30 days' },
  ],
};
const ABOUT = {
  name: 'about',
  label: 'About',
  options: [
    'alias',
    'asset',
    'batch',
    'device',
    'invite',
    'job',
    'key',
    'limit',
    'network',
    'provider',
  ]
    .concat(['queue', 'session', 'token', 'user'])
    .map((noun) => ({
      value: noun,
      label: `${capitalized(noun)}${noun.endsWith('s') ? 'es' : 's'}`,
    })),
};
/** Actors that are not members. */
const PARTS = ['agent', 'invite', 'setup', 'system'].map((part) => ({ value: part, label: part }));

/**
 * Who changed what, the newest first. The coordinator deletes entries after
 * `GATEWAY_AUDIT_RETENTION_DAYS`.
 */
export function Audit() {
  const { query } = useLocation();
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const by = {
    name: 'by',
    label: 'By',
    options: [...users.map(({ id, name }) => ({ value: id, label: name })), ...PARTS],
  };
  const since = chosenOf(SINCE, query);
  const about = chosenOf(ABOUT, query);
  // Requested with the value in the URL, before its name is known.
  const actor = query['by'] ?? '';
  const pages = useAdminPages(
    'audit.list',
    {
      since_s: since === '' ? null : Number(since) * DAY_S,
      action: about === '' ? null : about,
      actor: actor === '' ? null : actor,
      subject: null,
      limit: PAGE_ROWS,
    },
    LISTS,
  );
  const clear = useClearQuery();
  const isFiltered = since !== '' || about !== '' || actor !== '';
  return (
    <>
      <FacetBar facets={[SINCE, ABOUT, by]} />
      <Loaded of={pages} rows={10}>
        {(rows) => (
          <>
            {rows.length === 0 && isFiltered && <NoMatch what="entries" onClear={clear} />}
            {rows.length === 0 && !isFiltered && (
              <Empty
                icon="scroll-text"
                title="Nothing has been changed yet."
                text="Every change is recorded here, with who made it."
              />
            )}
            {rows.length > 0 && (
              <>
                <Table
                  caption="Audit log"
                  saveAs="audit-log"
                  pages={pages}
                  columns={COLUMNS}
                  rows={rows}
                  rowKey={({ id }) => id}
                />
                <LoadMore pages={pages} what="entry" many="entries" />
              </>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { head: 'When', ifWide: true, cell: ({ at }) => <Ago at={at} /> },
  { head: 'By', ifWide: true, cell: (entry) => <Actor entry={entry} /> },
  {
    head: 'Action',
    isName: true,
    below: (entry) => <Below entry={entry} />,
    cell: ({ action }) => <span class="mono">{action}</span>,
  },
  {
    head: 'On',
    ifWide: true,
    cell: (entry) => (
      <span class="admin-subject">
        <Subject entry={entry} />
      </span>
    ),
  },
  { head: 'Change', kind: 'grow', ifWide: true, cell: (entry) => <Change entry={entry} /> },
];

interface EntryProps {
  readonly entry: Entry;
}

function Actor({ entry: { actor, actor_name: name } }: EntryProps) {
  return <span title={actor}>{name ?? actor}</span>;
}

function Subject({ entry: { subject } }: EntryProps) {
  return <span title={subject.id}>{subject.name}</span>;
}

/** Subject, actor, time and changes. */
function Below({ entry }: EntryProps) {
  return (
    <>
      <Subject entry={entry} />, by <Actor entry={entry} />, <Ago at={entry.at} />
      <br />
      <Change entry={entry} />
    </>
  );
}

/** Unchanged fields are left out. */
function Change({ entry: { before, after } }: EntryProps) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = fields.filter((field) => told(before?.[field]) !== told(after?.[field]));
  const text = changed
    .map((field) =>
      before === null || before[field] === undefined
        ? `${field}: ${told(after?.[field], field)}`
        : `${field}: ${told(before[field], field)} → ${told(after?.[field], field)}`,
    )
    .join(', ');
  return (
    <span class="note small soft" title={text}>
      {text}
    </span>
  );
}

function told(value: unknown, field = ''): string {
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'number') return field.endsWith('_at') ? formatDate(value) : String(value);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((one) => told(one)).join(' ') || 'none';
  const parts = Object.entries(value).filter(([, inner]) => inner !== null);
  return parts.map(([name, inner]) => `${name} ${told(inner, name)}`).join(' ') || 'none';
}
