/** Carries out operations in transactions of PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Operation, Prepared, Step } from '../operations/statement.js';
import { compiled } from './compiled.js';
import { isCollision, isViolation, LOCK_CLASS } from './connection.js';
import type { Connection, Pool, Sent } from './connection.js';

/**
 * - `read`: one snapshot for all its statements.
 * - `serializable`: as if operations ran one after the other; the database ends some that collide,
 *   and they are repeated.
 * - `committed`: each statement sees what others have committed. What is read to decide is locked
 *   by the statements of the operation.
 */
export type Isolation = 'read' | 'serializable' | 'committed';

/** Changes wait for each other, also those of other coordinators: else many at once collide. */
const CHANGES_LOCK = `${LOCK_CLASS.changes}, 0`;
/** Of operations: see `lock` in `operations/statement.ts`. */
const NAMED_LOCK = `${LOCK_CLASS.operations}, hashtext($1)`;

const BEGIN: Readonly<Record<Isolation, string>> = {
  read: 'begin isolation level repeatable read read only',
  serializable: 'begin isolation level serializable',
  committed: 'begin isolation level read committed',
};

interface Bounds {
  readonly begin: readonly Sent[];
  /** After its commit or rollback. */
  readonly after: readonly Sent[];
}

/** Locks are the session's here: taken in the transaction, they would come after its snapshot. */
function boundsOf({ isolation, locks = [] }: Pick<Transaction<unknown>, 'isolation' | 'locks'>) {
  const begin: Sent[] = [];
  const after: Sent[] = [];
  if (isolation === 'serializable') {
    begin.push({ text: `select pg_advisory_lock(${CHANGES_LOCK})` });
    after.push({ text: `select pg_advisory_unlock(${CHANGES_LOCK})` });
  }
  for (const name of locks) {
    begin.push({ text: `select pg_advisory_lock(${NAMED_LOCK})`, values: [name] });
    after.push({ text: `select pg_advisory_unlock(${NAMED_LOCK})`, values: [name] });
  }
  return { begin: [...begin, { text: BEGIN[isolation] }], after } satisfies Bounds;
}

/** Of an operation that collides each time. */
const MAX_ATTEMPTS = 20;
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 100;

interface Transaction<Result> {
  readonly isolation: Isolation;
  /** Names of locks that are taken before it begins; default: none. */
  readonly locks?: readonly string[];
  /** Called for each attempt. */
  readonly begin: () => Operation<Result>;
  readonly context: CallContext;
}

/** Epochs of the database after a transaction. */
export interface Epochs {
  readonly keys: number;
  readonly sharing: number;
}

/** When they were read, by the monotonic clock: what was committed before is in them. */
export interface ReadEpochs extends Epochs {
  readonly readAt: number;
}

interface Outcome<Result> {
  readonly value: Result;
  /** Null: the connection ended after the commit. */
  readonly epochs: ReadEpochs | null;
}

export const EPOCHS = `(select value from epochs where name = 'keys') as keys,
  (select value from epochs where name = 'sharing') as sharing`;
const READ_EPOCHS = `select ${EPOCHS}`;

/** Repeats a transaction that collides with others, after a growing random pause. */
export async function carryOut<Result>(
  pool: Pool,
  transaction: Transaction<Result>,
): Promise<Outcome<Result>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await carryOutOnce(pool, transaction);
    } catch (error) {
      if (attempt >= attemptsFor(error, transaction.isolation)) throw error;
    }
    const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
    await sleep(Math.random() * longest);
  }
}

function attemptsFor(error: unknown, isolation: Isolation): number {
  if (isCollision(error)) return MAX_ATTEMPTS;
  // The second attempt sees what the first one violated.
  return isolation === 'serializable' && isViolation(error) ? 2 : 1;
}

async function carryOutOnce<Result>(
  pool: Pool,
  { begin, context, ...kind }: Transaction<Result>,
): Promise<Outcome<Result>> {
  const bounds = boundsOf(kind);
  return pool.use(async (connection) => {
    const send = (all: readonly Sent[]): Promise<unknown> =>
      Promise.all(all.map((one) => connection.query(one)));
    // Sent with the first statement, and the epochs with the commit: each saves a round trip.
    const begun = send(bounds.begin);
    begun.catch(() => {});
    try {
      const value = await runSteps(connection, begin(), context);
      await begun;
      const readAt = performance.now();
      const committed = connection.query({ text: 'commit' });
      const after = Promise.all([send(bounds.after), readEpochs(connection)]);
      // What has been committed holds, whatever becomes of the connection then.
      const epochs = after.then(([, read]) => ({ ...read, readAt })).catch(() => null);
      await committed;
      return { value, epochs: await epochs };
    } catch (error) {
      await send([{ text: 'rollback' }, ...bounds.after]).catch(() => {});
      throw error;
    }
  });
}

async function readEpochs(connection: Connection): Promise<Epochs> {
  const { rows } = await connection.query<Epochs>({ text: READ_EPOCHS, name: 'epochs' });
  const [epochs] = rows;
  if (epochs === undefined) throw new Error('the table of epochs is empty');
  return epochs;
}

async function runSteps<Result>(
  connection: Connection,
  operation: Operation<Result>,
  context: CallContext,
): Promise<Result> {
  let next = operation.next();
  while (next.done !== true) {
    next = operation.next(await runStep(connection, next.value, context));
  }
  return next.value;
}

const LOCK = `select pg_advisory_xact_lock(${NAMED_LOCK})`;

async function runStep(connection: Connection, step: Step, context: CallContext): Promise<unknown> {
  switch (step.kind) {
    case 'get':
      return (await query(connection, step.statement, step.parameters)).rows[0];
    case 'all':
      return (await query(connection, step.statement, step.parameters)).rows;
    case 'run':
      return (await query(connection, step.statement, step.parameters)).changes;
    case 'each':
      return runEach(connection, step.statement, step.parameters);
    case 'together':
      return allOf(step.operations.map((one) => runSteps(connection, one, context)));
    case 'lock':
      await connection.query({ text: LOCK, values: [step.name], name: 'lock' });
      return undefined;
    case 'context':
      return context;
  }
}

/** Waits for all of them, also if one fails: none may write after the transaction has ended. */
async function allOf(outcomes: readonly Promise<unknown>[]): Promise<unknown[]> {
  await Promise.allSettled(outcomes);
  return Promise.all(outcomes);
}

/** Rows of one statement. Few sizes, so that few are prepared. */
const ROWS_OF_MANY = [32, 8] as const;
/** Of all values of such a statement, which is one message. */
const MAX_MANY_BYTES = 1024 * 1024;

/** Sent one after the other without waiting for the answers. */
async function runEach(
  connection: Connection,
  statement: Prepared,
  parameters: readonly object[],
): Promise<readonly number[]> {
  const { many, name } = compiled(statement);
  const sent: Promise<readonly number[]>[] = [];
  for (let at = 0; at < parameters.length;) {
    const left = parameters.slice(at, at + ROWS_OF_MANY[0]);
    const rows = many === null ? null : rowsOfMany(left.map((one) => valuesOf(statement, one)));
    if (many === null || rows === null) {
      sent.push(query(connection, statement, left[0] ?? {}).then(({ changes }) => [changes]));
      at += 1;
    } else {
      const text = many.textFor(rows.length);
      const all = connection.query<Readonly<Record<string, unknown>>>({
        text,
        values: rows.flat(),
        name: `${name}_${rows.length}`,
      });
      sent.push(all.then((returned) => many.changes(rows, returned.rows)));
      at += rows.length;
    }
  }
  return (await Promise.all(sent)).flat();
}

/** The first ones, as many as one statement takes; null if that is one. */
function rowsOfMany(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] | null {
  const size = ROWS_OF_MANY.find((count) => count <= rows.length);
  if (size === undefined) return null;
  const taken = rows.slice(0, size);
  const bytes = taken.flat().reduce<number>((sum, value) => sum + lengthOf(value), 0);
  return bytes > MAX_MANY_BYTES ? null : taken;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

async function query(
  connection: Connection,
  statement: Prepared,
  parameters: object,
): Promise<{ readonly rows: readonly unknown[]; readonly changes: number }> {
  const { text, name } = compiled(statement);
  const values = valuesOf(statement, parameters);
  const { rows, count, columns } = await connection.query<Readonly<Record<string, unknown>>>({
    text,
    values,
    name,
  });
  const [first] = columns;
  const isValue = statement.isPlucked && first !== undefined;
  return { rows: isValue ? rows.map((row) => row[first]) : rows, changes: count };
}

function valuesOf(statement: Prepared, parameters: object): readonly unknown[] {
  const { text, names } = compiled(statement);
  const given = parameters as Readonly<Record<string, unknown>>;
  return names.map((parameter) => {
    const value = given[parameter];
    if (value !== undefined) return typeof value === 'string' ? withoutNul(value) : value;
    throw new Error(`the statement has no value for @${parameter}: ${text}`);
  });
}

/** PostgreSQL refuses a text with it, with all that is written beside it: callers may send one. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
