/**
 * Connections to PostgreSQL, and what their errors mean. With node-postgres: a connection that
 * breaks ends the process that uses postgres.js 3.4 (porsager/postgres#1066).
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { Socket } from 'node:net';
import { DatabaseError, Pool as ClientPool, types } from 'pg';
import type { CustomTypesConfig, PoolClient } from 'pg';
import { withoutPassword } from '../database-url.js';

/** At the same time: PostgreSQL allows 100 by default, for all its users together. */
const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** Of the wait for a connection that is free. */
const WAIT_TIMEOUT_MS = 30_000;
/** Of a single statement. The slowest delete a thousand old rows. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** If the server does not end it by then, the network has gone. */
const ANSWER_TIMEOUT_MS = 40_000;
/** 25 days: to node-postgres, 0 means the limit of the pool. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LOCK_TIMEOUT_MS = 10_000;
/** Of a program that stands still within a transaction: who waits for its locks gets them then. */
const IDLE_IN_TRANSACTION_MS = LOCK_TIMEOUT_MS / 2;

/** The server notices within 11 s that a machine is gone, and frees its locks. */
const KEEP_ALIVE =
  '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=2';

/** Classes of our advisory locks: other programs may use the database, and such locks, too. */
export const LOCK_CLASS = {
  operations: 738_201,
  nodes: 738_202,
  copies: 738_203,
  changes: 738_204,
  migrations: 738_205,
  upkeep: 738_206,
} as const;

const OID = { bool: 16, int8: 20, numeric: 1700 } as const;

/** Whole numbers arrive as numbers (all of ours are exact), booleans as 1 and 0, as in SQLite. */
const TYPES: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === OID.int8 || oid === OID.numeric) return Number;
    if (oid === OID.bool) return (text: string) => (text === 't' ? 1 : 0);
    return types.getTypeParser(oid, format) as (value: string) => unknown;
  },
};

/** The server or the network fails, rather than a statement. */
export class DatabaseUnavailable extends Error {}

export interface Answer<Row> {
  readonly rows: readonly Row[];
  /** Rows that were read or changed. */
  readonly count: number;
  /** Names of the columns. */
  readonly columns: readonly string[];
}

/** Connections that are used by one transaction at a time, and replaced when they break. */
export class Pool {
  readonly #pool: ClientPool;
  readonly #max: number;
  #used = 0;
  readonly #sockets = new Set<Socket>();
  /** Told when a connection has become free, first come, first served. */
  readonly #waiting = new Set<Waiting>();
  #closed: Promise<void> | null = null;

  constructor(url: string, { max = MAX_CONNECTIONS, connectMs = CONNECT_TIMEOUT_MS } = {}) {
    this.#max = max;
    this.#pool = new ClientPool({
      connectionString: url,
      stream: () => this.#newSocket(),
      max,
      types: TYPES,
      keepAlive: true,
      options: KEEP_ALIVE,
      // Statements are sent without waiting for the answers to those before them.
      pipeline: true,
      connectionTimeoutMillis: connectMs,
      // Idle ones stay: the lock of a node is held by its connection.
      idleTimeoutMillis: 0,
      application_name: 'inference-gateway',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    });
    // Told by the statement that uses the connection, or by the next one.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** A connection that fails in `use` is not used again. */
  async use<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result> {
    await this.#takeTurn();
    try {
      return await this.#useNext(use);
    } finally {
      this.#endTurn();
    }
  }

  async #useNext<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw unavailableUnlessRefused(error);
    });
    const connection = new Connection(client);
    let isWhole = false;
    try {
      const result = await use(connection);
      isWhole = true;
      return result;
    } catch (error) {
      isWhole = error instanceof DatabaseError;
      throw error;
    } finally {
      client.release(!isWhole || connection.isBroken);
    }
  }

  /** Not by `pg.Pool`, which has one time limit for this wait and for a new connection. */
  async #takeTurn(): Promise<void> {
    if (this.#used < this.#max) {
      this.#used += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const fail = (message: string): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        reject(new DatabaseUnavailable(message));
      };
      const message = `no connection was free within ${WAIT_TIMEOUT_MS / 1_000} s`;
      const timer = setTimeout(() => fail(message), WAIT_TIMEOUT_MS);
      const waiting = { turn, fail };
      this.#waiting.add(waiting);
    });
  }

  /** The server is away: fails what is under way, which would wait for its time limits. */
  abandon(): void {
    for (const { fail } of this.#waiting) fail('the server does not answer');
    // A client is asked in vain: it waits for the answers that it has not got.
    for (const socket of this.#sockets) socket.destroy();
  }

  #newSocket(): Socket {
    const socket = new GatheringSocket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  #endTurn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#used -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.turn();
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    return this.use((connection) => connection.query<Row>({ text, values }));
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }
}

interface Waiting {
  readonly turn: () => void;
  readonly fail: (message: string) => void;
}

type Written = (error?: Error | null) => void;

/**
 * What is written in one turn of the event loop leaves in one system call: a call for each
 * statement was a third of the time of this process.
 */
class GatheringSocket extends Socket {
  #isGathering = false;

  override write(
    data: string | Uint8Array,
    encoding?: BufferEncoding | Written,
    written?: Written,
  ): boolean {
    if (!this.#isGathering) this.#gather();
    if (typeof encoding === 'function') return super.write(data, encoding);
    return super.write(data, encoding, written);
  }

  #gather(): void {
    this.#isGathering = true;
    this.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      this.uncork();
    });
  }
}

export interface Sent {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Of a prepared statement: the same name stands for the same text. */
  readonly name?: string;
  /** How long its answer may take; default: what suits the slowest operation. */
  readonly answerMs?: number;
  /** True: it may take as long as it needs, if the server's own limits are off. */
  readonly isUnlimited?: boolean;
}

export class Connection {
  readonly #client: PoolClient;
  /** A statement failed otherwise than by an answer of the server. */
  isBroken = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Throws a `DatabaseUnavailable`, or an error of PostgreSQL. */
  async query<Row>({ text, values, name, ...limits }: Sent): Promise<Answer<Row>> {
    const config = {
      text,
      ...(values !== undefined && { values: [...values] }),
      ...(name !== undefined && { name }),
      query_timeout: limitOf(limits),
    };
    const result = await this.#client.query<object & Row>(config).catch((error: unknown) => {
      this.isBroken ||= !(error instanceof DatabaseError);
      throw unavailableUnlessRefused(error);
    });
    // A text of several statements, as of a migration, has no rows that anybody needs.
    if (Array.isArray(result)) return { rows: [], count: 0, columns: [] };
    const { rows, rowCount, fields } = result;
    return { rows, count: rowCount ?? 0, columns: fields.map((field) => field.name) };
  }
}

function limitOf({ answerMs, isUnlimited }: Pick<Sent, 'answerMs' | 'isUnlimited'>): number {
  return isUnlimited === true ? LONGEST_TIMER_MS : (answerMs ?? ANSWER_TIMEOUT_MS);
}

/** Runs something on a connection of its own. Throws a `CommandError`. */
export async function onConnection<T>(
  url: string,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const pool = new Pool(url, { max: 1 });
  try {
    return await pool.use(use);
  } catch (error) {
    throw asCommandError(error, url);
  } finally {
    await pool.close();
  }
}

/**
 * Classes of errors of the server rather than of a statement: connection, resources, an operator's
 * or a time limit's intervention, the system; a standby, a lock that was not free in time, and a
 * transaction that collided too often.
 */
const SERVER_ERRORS = /^(08|53|57|58|XX|25006|55P03|40001|40P01)/;

/** False for errors of our statements: bugs. */
export function isServerError(error: unknown): error is Error {
  if (error instanceof DatabaseUnavailable) return true;
  return error instanceof DatabaseError && SERVER_ERRORS.test(error.code ?? '');
}

/** Two transactions collided, and one has to be repeated. */
export function isCollision(error: unknown): boolean {
  return error instanceof DatabaseError && ['40001', '40P01'].includes(error.code ?? '');
}

/** A lock was not granted within the session's `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

/**
 * A row that another transaction has written or deleted since this one began may be told so, too.
 */
export function isViolation(error: unknown): boolean {
  return error instanceof DatabaseError && ['23503', '23505'].includes(error.code ?? '');
}

function unavailableUnlessRefused(error: unknown): unknown {
  if (error instanceof DatabaseError) return error;
  const { message } = error as Error;
  const { code = 'no answer' } = error as { readonly code?: string };
  return new DatabaseUnavailable(message === '' ? code : message, { cause: error });
}

/** For errors that a stack does not help with; others are returned as they are. */
export function asCommandError(error: unknown, url: string): unknown {
  const isKnown = error instanceof DatabaseUnavailable || error instanceof DatabaseError;
  if (!isKnown) return error;
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  const fault = FAULTS.find(({ codes }) => codes.test(code));
  const { exit = EXIT.failure, remedy = '' } = isRefused(error) ? REFUSED : (fault ?? {});
  const message = `cannot use the database ${withoutPassword(url)}: ${error.message}.${remedy}`;
  return new CommandError(exit, message, { cause: error });
}

function isRefused({ cause }: Error): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

/** A server may still start: the service tries again. */
const REFUSED = { exit: EXIT.failure, remedy: ' Start PostgreSQL there, or correct the URL.' };

/** By classes of PostgreSQL's codes. */
const FAULTS = [
  { codes: /^28/, exit: EXIT.notAuthorised, remedy: ' Correct the user or the password.' },
  { codes: /^42501/, exit: EXIT.notAuthorised, remedy: ' Make the user the owner of it.' },
  { codes: /^3D000/, exit: EXIT.notFound, remedy: ' Create it, or correct the URL.' },
];
