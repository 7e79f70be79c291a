/** Carries out operations in transactions of PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallContext, Operation, Prepared, Step } from '../operations/statement.js';
import { isCollision, isViolation, LOCK_CLASS } from './connection.js';
import type { Connection, Pool } from './connection.js';

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

/** What a transaction begins with, and what it ends with. */
const BOUNDS: Readonly<Record<Isolation, Bounds>> = {
  read: { begin: ['begin isolation level repeatable read read only'], after: [] },
  serializable: {
    // The lock is the session's: taken in the transaction, it would come after its snapshot.
    begin: [`select pg_advisory_lock(${CHANGES_LOCK})`, 'begin isolation level serializable'],
    after: [`select pg_advisory_unlock(${CHANGES_LOCK})`],
  },
  committed: { begin: ['begin isolation level read committed'], after: [] },
};

interface Bounds {
  readonly begin: readonly string[];
  /** After its commit or rollback. */
  readonly after: readonly string[];
}

/** Of an operation that collides each time. */
const MAX_ATTEMPTS = 20;
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 100;

interface Transaction<Result> {
  readonly isolation: Isolation;
  /** Called for each attempt. */
  readonly begin: () => Operation<Result>;
  readonly context: CallContext;
}

/** Epochs of the database after a transaction. */
export interface Epochs {
  readonly keys: number;
  readonly sharing: number;
}

interface Outcome<Result> {
  readonly value: Result;
  readonly epochs: Epochs;
}

const EPOCHS = `select (select value from epochs where name = 'keys') as keys,
  (select value from epochs where name = 'sharing') as sharing`;

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
  { isolation, begin, context }: Transaction<Result>,
): Promise<Outcome<Result>> {
  const bounds = BOUNDS[isolation];
  return pool.use(async (connection) => {
    const send = (texts: readonly string[]): Promise<unknown> =>
      Promise.all(texts.map((text) => connection.query({ text })));
    // Sent with the first statement, and the epochs with the commit: each saves a round trip.
    const begun = send(bounds.begin);
    begun.catch(() => {});
    try {
      const value = await runSteps(connection, begin(), context);
      await begun;
      const ended = send(['commit', ...bounds.after]);
      const [epochs] = await Promise.all([readEpochs(connection), ended]);
      return { value, epochs };
    } catch (error) {
      await send(['rollback', ...bounds.after]).catch(() => {});
      throw error;
    }
  });
}

async function readEpochs(connection: Connection): Promise<Epochs> {
  const { rows } = await connection.query<Epochs>({ text: EPOCHS, name: 'epochs' });
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

const LOCK = `select pg_advisory_xact_lock(${LOCK_CLASS.operations}, hashtext($1))`;

async function runStep(connection: Connection, step: Step, context: CallContext): Promise<unknown> {
  switch (step.kind) {
    case 'get':
      return (await query(connection, step.statement, step.parameters)).rows[0];
    case 'all':
      return (await query(connection, step.statement, step.parameters)).rows;
    case 'run':
      return (await query(connection, step.statement, step.parameters)).changes;
    case 'each': {
      // Sent one after the other without waiting for the answers.
      const { statement, parameters } = step;
      const all = parameters.map((one) => query(connection, statement, one));
      return (await Promise.all(all)).map(({ changes }) => changes);
    }
    case 'lock':
      await connection.query({ text: LOCK, values: [step.name], name: 'lock' });
      return undefined;
    case 'context':
      return context;
  }
}

async function query(
  connection: Connection,
  statement: Prepared,
  parameters: object,
): Promise<{ readonly rows: readonly unknown[]; readonly changes: number }> {
  const { text, names, name } = compiled(statement);
  const given = parameters as Readonly<Record<string, unknown>>;
  const values = names.map((parameter) => {
    const value = given[parameter];
    if (value !== undefined) return typeof value === 'string' ? withoutNul(value) : value;
    throw new Error(`the statement has no value for @${parameter}: ${text}`);
  });
  const { rows, count, columns } = await connection.query<Readonly<Record<string, unknown>>>({
    text,
    values,
    name,
  });
  const [first] = columns;
  const isValue = statement.isPlucked && first !== undefined;
  return { rows: isValue ? rows.map((row) => row[first]) : rows, changes: count };
}

/** PostgreSQL refuses a text with it, with all that is written beside it: callers may send one. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

interface Numbered {
  /** With `$1`, `$2`, … for its parameters. */
  readonly text: string;
  /** Of the parameters, in order. */
  readonly names: readonly string[];
}

interface Compiled extends Numbered {
  /** Of the prepared statement. */
  readonly name: string;
}

const known = new Map<Prepared, Compiled>();

function compiled(statement: Prepared): Compiled {
  const found = known.get(statement);
  if (found !== undefined) return found;
  const { text } = statement;
  const made = {
    ...numbered(typeof text === 'string' ? text : text.postgres),
    name: `s${known.size + 1}`,
  };
  known.set(statement, made);
  return made;
}

/** Numbers the parameters, except in quotes, and leaves out what only SQLite is told. */
export function numbered(sql: string): Numbered {
  const names: string[] = [];
  const text = sql
    .replaceAll(/ indexed by \w+/g, '')
    .replaceAll(/'(?:[^']|'')*'|@(\w+)/g, (whole: string, name: string | undefined) => {
      if (name === undefined) return whole;
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
  return { text, names };
}
