/** The tables of the store, as the catalogs of both engines describe them. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Database } from 'better-sqlite3';
import type { Connection } from '../postgres/connection.js';

/** By migrations and triggers, in a database without other rows. */
const WRITTEN_BY_ITSELF = new Set(['write_probe', 'audit_upkeep', 'epochs']);

export type Kind = 'integer' | 'real' | 'text' | 'blob';

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The places of the columns that its rows are ordered by: `rowid` or the primary key. */
  readonly key: readonly number[];
  /** Copied last, after the rows that the target has written by itself are deleted. */
  readonly isReplaced: boolean;
}

interface ListedColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

const SQLITE_COLUMNS = `select m.name as "table", c.name, lower(c.type) as type, c.pk
  from sqlite_schema m join pragma_table_info(m.name) c
  where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\' order by m.name, c.cid`;
const PARENTS = `select distinct m.name as child, f."table" as parent
  from sqlite_schema m join pragma_foreign_key_list(m.name) f where m.type = 'table'`;
const POSTGRES_COLUMNS = `select c.relname as "table", a.attname as name, c.relkind as relation,
    format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null) as type
  from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v')
    and c.relname <> 'schema_version' and a.attnum > 0 and not a.attisdropped
  order by c.relname, a.attnum`;

/** By the names of both engines. */
const KINDS: Readonly<Record<string, Kind>> = {
  integer: 'integer',
  smallint: 'integer',
  bigint: 'integer',
  numeric: 'integer',
  real: 'real',
  'double precision': 'real',
  text: 'text',
  citext: 'text',
  blob: 'blob',
  bytea: 'blob',
};

/** Each after those that it refers to. Throws if the engines do not have the same ones. */
export async function readTables(
  connection: Connection,
  database: Database,
  to: 'postgres' | 'sqlite',
): Promise<readonly Table[]> {
  const here = database.prepare<[], ListedColumn & { pk: number }>(SQLITE_COLUMNS).all();
  type There = ListedColumn & { readonly relation: string };
  const { rows: there } = await connection.query<There>({ text: POSTGRES_COLUMNS });
  const tables: Table[] = [];
  for (const name of new Set(here.map(({ table }) => table))) {
    const listed = there.filter(({ table }) => table === name);
    // What SQLite counts with triggers; of rows that are inserted, they count ended jobs, too.
    const isView = listed[0]?.relation === 'v';
    const own = here.filter(({ table }) => table === name);
    const hasRowid = listed.some((column) => column.name === 'rowid');
    const columns = [...(hasRowid ? [{ name: 'rowid', type: 'integer' }] : []), ...own];
    if (describe(columns) !== describe(listed)) throw unlike(name, columns, listed);
    const inKey = own.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    const key = hasRowid ? [0] : inKey.map((column) => columns.indexOf(column));
    const typed = columns.map(({ name, type }) => ({ name, kind: KINDS[type] ?? 'text' }));
    const isReplaced = isView || WRITTEN_BY_ITSELF.has(name);
    if (!isView || to === 'sqlite') tables.push({ name, columns: typed, key, isReplaced });
  }
  const other = there.find(({ table, relation }) => {
    return relation !== 'v' && !tables.some(({ name }) => name === table);
  });
  if (other !== undefined) throw unlike(other.table, [], [other]);
  return byReference(tables, database.prepare<[], Reference>(PARENTS).all());
}

interface Reference {
  readonly child: string;
  readonly parent: string;
}

function byReference(tables: readonly Table[], references: readonly Reference[]): Table[] {
  const ordered = new Set<Table>();
  while (ordered.size < tables.length) {
    const done = new Set([...ordered].map(({ name }) => name));
    const waits = ({ name }: Table): boolean =>
      references.some(({ child, parent }) => child === name && !done.has(parent));
    const next = tables.filter((table) => !ordered.has(table) && !waits(table));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    for (const table of next) ordered.add(table);
  }
  return [...ordered];
}

function describe(columns: readonly Omit<ListedColumn, 'table'>[]): string {
  return columns
    .map(({ name, type }) => `${name} ${KINDS[type] ?? type}`)
    .toSorted()
    .join(', ');
}

function unlike(
  table: string,
  here: readonly Omit<ListedColumn, 'table'>[],
  there: readonly ListedColumn[],
): CommandError {
  const [sqlite, postgres] = [describe(here) || 'missing', describe(there) || 'missing'];
  const message = `the table ${table} is ${sqlite} on SQLite, and ${postgres} on PostgreSQL.`;
  return new CommandError(EXIT.failure, message);
}
