/**
 * Copies all rows of a store from one engine to the other, table by table in the order of foreign
 * keys, and compares both sides at the end. A copy that was interrupted is continued.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Database } from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { readTables } from './tables.js';
import type { Kind, Table } from './tables.js';
import { withoutPassword } from '../database-url.js';
import type { MigrationStatus } from '../migration-files.js';
import { isServerError, LOCK_CLASS, onConnection } from '../postgres/connection.js';
import type { Connection } from '../postgres/connection.js';
import { appliedMigrations, migratePostgres } from '../postgres/migrations.js';
import { lockDatabase } from '../postgres/node-lock.js';
import { openDatabase } from '../sqlite/database.js';
import { migrate, migrationStatus } from '../sqlite/migrations.js';

/** Of a batch; a row of more bytes is a batch of its own. */
const MAX_BATCH_ROWS = 500;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** The server may still be carrying out the last batch of a copy that was killed. */
const LOCK = `select pg_advisory_lock(${LOCK_CLASS.copies}, 0)`;

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

export interface CopyProgress extends CopiedTable {
  readonly step: 'copying' | 'comparing';
}

export interface CopyRequest {
  readonly to: 'postgres' | 'sqlite';
  /** SQLite's: the source, or a new one. */
  readonly file: string;
  /** PostgreSQL's. */
  readonly url: string;
  /** Called if the source has these migrations still to come, as at a start. */
  readonly onPending: (migrations: readonly string[]) => void;
  /** Called after each batch of a table, with the rows that it has had so far. */
  readonly onProgress: (progress: CopyProgress) => void;
}

/**
 * Returns the tables with their rows. Throws a `CommandError`: `conflict` if a coordinator uses the
 * database on PostgreSQL, or if the target has rows that are not the beginning of such a copy.
 */
export function copyBetween(request: CopyRequest): Promise<readonly CopiedTable[]> {
  const { to, file, url, onPending } = request;
  return onConnection(url, async (connection) => {
    await connection.query({ text: LOCK });
    await lockDatabase(connection, url);
    const there = await appliedMigrations(connection, url);
    if (to === 'postgres') requireOwnSchema(there, url);
    else if (there.schemaVersion === 0) throw noTables(url);
    const { pending } = to === 'postgres' ? migrationStatus(file) : there;
    if (pending.length > 0) onPending(pending);
    await migratePostgres(connection, url);
    const database = openDatabase(file);
    try {
      migrate(database);
      if (to === 'postgres') database.pragma('query_only = true');
      return await copy(request, connection, database);
    } finally {
      database.close();
    }
  });
}

function noTables(url: string): CommandError {
  const message = `${withoutPassword(url)} holds no coordinator's data: its tables are missing.`;
  return new CommandError(EXIT.notFound, message);
}

/** The target of a copy is left alone if its rows are a program's of another version. */
function requireOwnSchema(there: MigrationStatus, url: string): void {
  if (there.schemaVersion === 0 || there.pending.length === 0) return;
  throw notEmpty(url, 'the tables of an older program');
}

async function copy(
  { to, url, onProgress }: CopyRequest,
  connection: Connection,
  database: Database,
): Promise<readonly CopiedTable[]> {
  const tables = await readTables(connection, database, to);
  const sides = [sqliteSide(database), postgresSide(connection)] as const;
  const [source, target] = to === 'postgres' ? sides : [sides[1], sides[0]];
  const begun = new Map<Table, Pick<Digest, 'rows' | 'last'>>();
  for (const table of tables) {
    const there = table.isReplaced ? NOTHING : await copiedRows(source, target, table);
    if (there === null) throw notEmpty(url, `other rows in ${table.name}`);
    begun.set(table, there);
  }
  const copied: CopiedTable[] = [];
  for (const table of tables.toSorted((a, b) => Number(a.isReplaced) - Number(b.isReplaced))) {
    if (table.isReplaced) await target.clear(table);
    let { rows, last } = begun.get(table) ?? NOTHING;
    for await (const batch of batches(source, table, last)) {
      await target.insert(table, batch);
      rows += batch.length;
      onProgress({ step: 'copying', table: table.name, rows });
    }
    await target.settle(table);
    copied.push({ table: table.name, rows });
  }
  for (const table of tables) {
    const rows = copied.find((one) => one.table === table.name)?.rows ?? 0;
    onProgress({ step: 'comparing', table: table.name, rows });
    const [expected, is] = [await digest(source, table), await digest(target, table)];
    if (is.hash !== expected.hash) throw different(table.name, expected.rows, is.rows);
  }
  return copied;
}

/** What the target has of the table; null if the source does not begin with the same rows. */
async function copiedRows(source: Side, target: Side, table: Table): Promise<Digest | null> {
  const there = await digest(target, table);
  if (there.rows === 0) return there;
  const here = await digest(source, table, there.rows);
  return here.hash === there.hash ? there : null;
}

function notEmpty(url: string, why: string): CommandError {
  const message =
    `${withoutPassword(url)} is neither empty nor the beginning of a copy of this folder: it has ` +
    `${why}. Name an empty database; drop this one first if it holds only an interrupted copy.`;
  return new CommandError(EXIT.conflict, message);
}

function different(table: string, expected: number, is: number): CommandError {
  const message =
    `${table} differs after the copy: ${expected} rows in the source, ${is} in the target. ` +
    'Another program has written to one of them, or a value has changed. The folder stays as is.';
  return new CommandError(EXIT.failure, message);
}

// Rows are the same on both sides: whole numbers are their decimal digits, which have no limit.

type Value = string | number | Buffer | null;
type Row = readonly Value[];

interface Side {
  /** Those after the row `after` in the order of the table: at most a batch, empty at the end. */
  read(table: Table, after: Row | null): Promise<readonly Row[]>;
  /** In one transaction. */
  insert(table: Table, rows: readonly Row[]): Promise<void>;
  clear(table: Table): Promise<void>;
  /** Called when all rows of the table are there. */
  settle(table: Table): Promise<void>;
}

async function* batches(
  side: Side,
  table: Table,
  after: Row | null,
): AsyncGenerator<readonly Row[]> {
  for (let last = after; ;) {
    const rows = await side.read(table, last);
    if (rows.length === 0) return;
    yield rows;
    last = rows.at(-1) ?? null;
  }
}

interface Digest {
  readonly rows: number;
  /** Of all values in order. */
  readonly hash: string;
  readonly last: Row | null;
}

const NOTHING: Omit<Digest, 'hash'> = { rows: 0, last: null };

/** Of all rows, or the first ones. */
async function digest(side: Side, table: Table, maxRows = Infinity): Promise<Digest> {
  const hash = createHash('sha256');
  let { rows, last } = NOTHING;
  for await (const batch of batches(side, table, null)) {
    for (const row of batch.slice(0, maxRows - rows)) {
      hash.update(encoded(row));
      [rows, last] = [rows + 1, row];
    }
    if (rows >= maxRows) break;
  }
  return { rows, hash: hash.digest('hex'), last };
}

/** A text that no other row has. */
function encoded(row: Row): string {
  return JSON.stringify(row.map((value) => (Buffer.isBuffer(value) ? [sha256(value)] : value)));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const listOf = (table: Table): string => table.columns.map(({ name }) => `"${name}"`).join(', ');

const keyOf = (table: Table, row: Row): Value[] => table.key.map((at) => row[at] ?? null);

/** From where and in which order the rows after one are; `at` writes the nth parameter. */
function following(table: Table, after: Row | null, at: (index: number) => string): string {
  const own = table.key.map((place) => `"${table.name}"."${table.columns[place]?.name}"`);
  const given = table.key.map((_, index) => at(index)).join(', ');
  const where = after === null ? '' : `where (${own.join(', ')}) > (${given})`;
  return `from "${table.name}" ${where} order by ${own.join(', ')}`;
}

function sqliteSide(database: Database): Side {
  return {
    async read(table, after) {
      const order = following(table, after, () => '?');
      const text = `select ${listOf(table)} ${order} limit ${MAX_BATCH_ROWS}`;
      const values = after === null ? [] : keyOf(table, after);
      const kinds = table.key.map((place) => table.columns[place]?.kind);
      const found = database.prepare<unknown[], Value[]>(text).raw().safeIntegers();
      const rows: Row[] = [];
      let bytes = 0;
      for (const row of found.iterate(...values.map((value, i) => bound(value, kinds[i])))) {
        bytes += row.reduce((sum: number, value) => sum + sizeOf(value), 0);
        if (rows.length > 0 && bytes > MAX_BATCH_BYTES) break;
        rows.push(row.map((value) => (typeof value === 'bigint' ? String(value) : value)));
      }
      return rows;
    },
    async insert(table, rows) {
      const places = table.columns.map(() => '?').join(', ');
      const one = `insert into "${table.name}" (${listOf(table)}) values (${places})`;
      const statement = database.prepare(one);
      database.transaction(() => {
        for (const row of rows) {
          statement.run(...table.columns.map(({ kind }, i) => bound(row[i], kind)));
        }
      })();
    },
    async clear({ name }) {
      database.exec(`delete from "${name}"`);
    },
    async settle() {},
  };
}

function bound(value: Value | undefined, kind: Kind | undefined): unknown {
  return kind === 'integer' && typeof value === 'string' ? BigInt(value) : value;
}

function sizeOf(value: Value): number {
  return Buffer.isBuffer(value) || typeof value === 'string' ? value.length : 8;
}

function postgresSide(connection: Connection): Side {
  return {
    async read(table, after) {
      const order = following(table, after, (index) => `$${index + 1}`);
      const values = after === null ? [] : keyOf(table, after);
      const sizes = table.columns
        .filter(({ kind }) => kind === 'text' || kind === 'blob')
        .map(({ name }) => `coalesce(octet_length("${name}"), 0)`);
      const measure = `select ${['0', ...sizes].join(' + ')} as bytes ${order}`;
      const text = `${measure} limit ${MAX_BATCH_ROWS}`;
      const measured = await connection.query<{ bytes: number }>({ text, values });
      if (measured.count === 0) return [];
      const count = fitting(measured.rows.map(({ bytes }) => bytes));
      const columns = table.columns.map(({ name, kind }) => {
        return kind === 'integer' ? `"${name}"::text as "${name}"` : `"${name}"`;
      });
      const select = `select ${columns.join(', ')} ${order} limit ${count}`;
      const found = await connection.query<Record<string, Value>>({ text: select, values });
      return found.rows.map((row) => table.columns.map(({ name }) => row[name] ?? null));
    },
    async insert(table, rows) {
      for (const row of rows) requireStorable(table, row);
      const width = table.columns.length;
      const places = rows.map((_, row) => {
        return `(${table.columns.map((_, at) => `$${row * width + at + 1}`).join(', ')})`;
      });
      const text = `insert into "${table.name}" (${listOf(table)}) overriding system value
        values ${places.join(', ')}`;
      await connection.query({ text, values: rows.flat() }).catch((error: unknown) => {
        throw isServerError(error) ? error : refused(table, rows, error);
      });
    },
    async clear({ name }) {
      await connection.query({ text: `delete from "${name}"` });
    },
    async settle({ name, columns }) {
      if (columns.some((column) => column.name === 'rowid')) {
        const next = 'greatest(coalesce(max(rowid), 0) + 1, 1), false';
        const sequence = `pg_get_serial_sequence('${name}', 'rowid')`;
        await connection.query({ text: `select setval(${sequence}, ${next}) from "${name}"` });
      }
      await connection.query({ text: `analyze "${name}"` });
    },
  };
}

/** How many of the next rows are a batch: one at least. */
function fitting(sizes: readonly number[]): number {
  let bytes = 0;
  const tooMany = sizes.findIndex((size) => (bytes += size) > MAX_BATCH_BYTES);
  return tooMany < 0 ? sizes.length : Math.max(1, tooMany);
}

function requireStorable(table: Table, row: Row): void {
  const at = row.findIndex((value) => typeof value === 'string' && value.includes('\0'));
  if (at < 0) return;
  const message =
    `${table.name}, row ${nameOf(table, row)}, column ${table.columns[at]?.name}: the text has a ` +
    'NUL character, which PostgreSQL cannot store. Correct or delete the row, then copy into an ' +
    'empty database.';
  throw new CommandError(EXIT.failure, message);
}

function refused(table: Table, rows: readonly Row[], error: unknown): CommandError {
  const { message, code, detail } = error as Error & Readonly<Record<string, string>>;
  const [from, to] = [rows[0] ?? [], rows.at(-1) ?? []].map((row) => nameOf(table, row));
  // Details of other errors show whole rows.
  const why = code === UNIQUE_VIOLATION ? `${message}: ${detail}` : message;
  const what = `PostgreSQL refuses a row of ${table.name} between ${from} and ${to}: ${why}`;
  return new CommandError(EXIT.failure, what, { cause: error });
}

const UNIQUE_VIOLATION = '23505';

function nameOf(table: Table, row: Row): string {
  const parts = table.key.map((place) => [table.columns[place]?.name, row[place]] as const);
  return parts.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ');
}
