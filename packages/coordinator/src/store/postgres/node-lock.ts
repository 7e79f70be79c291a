/** One coordinator of a name uses a database at a time. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { DatabaseError } from 'pg';
import { setTimeout } from 'node:timers/promises';
import { withoutPassword } from '../database-url.js';
import { LOCK_CLASS, Pool } from './connection.js';
import type { Connection } from './connection.js';

export interface NodeLock {
  /** False if the connection was lost and another coordinator has taken the name. */
  isHeld(): Promise<boolean>;
  /** Whether this coordinator does the upkeep for all: the first that asks, until it is gone. */
  holdsUpkeep(): Promise<boolean>;
  release(): Promise<void>;
}

/** PostgreSQL notices within 11 s that the machine of the last one is gone. */
const WAIT_TRIES = 30;
const WAIT_MS = 500;

/** Who has the upkeep asks for it every second. */
const UPKEEP_IDLE_MS = 10_000;

/** Throws a `CommandError` `conflict` if another coordinator of this name goes on running. */
export async function holdNode(url: string, nodeId: string): Promise<NodeLock> {
  // PostgreSQL frees the lock when the connection ends, however the program does.
  const pool = new Pool(url, { max: 1 });
  const name = new SessionLock(pool, LOCK_CLASS.nodes, nodeId);
  const upkeep = new SessionLock(pool, LOCK_CLASS.upkeep, '');
  const isHeld = (): Promise<boolean> => name.isHeld();
  try {
    for (let tries = 1; !(await isHeld()); tries++) {
      if (tries === WAIT_TRIES) throw taken(url, nodeId);
      await setTimeout(WAIT_MS);
    }
    return { isHeld, holdsUpkeep: () => upkeep.isHeld(), release: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** Shared by coordinators and commands, whole for a copy: then nobody else may write. */
const IN_USE = `${LOCK_CLASS.copies}, 1`;

/** Throws a `CommandError` `conflict` if a coordinator, or a command, uses the database. */
export async function lockDatabase(connection: Connection, url: string): Promise<void> {
  const text = `select pg_try_advisory_lock(${IN_USE}) as free`;
  const { rows } = await connection.query<{ free: 0 | 1 }>({ text });
  if (rows[0]?.free === 1) return;
  const place = withoutPassword(url);
  const message = `a coordinator uses ${place}. Stop all that do, or name another database.`;
  throw new CommandError(EXIT.conflict, message);
}

/** Process numbers are used again: the start is part of the name. */
const BACKEND = "a.pid || ' ' || coalesce(a.backend_start::text, '')";

/** A lock of the connection that has taken it, and free when that ends. */
class SessionLock {
  readonly #pool: Pool;
  readonly #name: string;
  readonly #take: string;
  readonly #findHolder: string;
  readonly #lockClass: number;
  /** The server process of the connection that has it, and all that have had it. */
  #holder = '';
  readonly #own = new Set<string>();

  constructor(pool: Pool, lockClass: number, name: string) {
    this.#pool = pool;
    this.#name = name;
    this.#lockClass = lockClass;
    // Not taken twice: PostgreSQL would count how often.
    this.#take = `select ${BACKEND} as backend, case when ${BACKEND} = $1 then true else
        pg_try_advisory_lock_shared(${IN_USE})
          and pg_try_advisory_lock(${lockClass}, hashtext($2)) end as free
      from pg_stat_activity a where a.pid = pg_backend_pid()`;
    // `objsubid` is 2 for locks of two numbers, of which `objid` is the second.
    this.#findHolder = `select ${BACKEND} as backend, a.pid,
        case when a.state = 'idle'
          then (extract(epoch from clock_timestamp() - a.state_change) * 1000)::bigint
          else 0 end as "idleMs"
      from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.classid = ${lockClass}
        and l.objid = (hashtext($1)::bigint & 4294967295)::oid and l.objsubid = 2
        and l.database = (select oid from pg_database where datname = current_database())`;
  }

  /**
   * Takes it, if it is free. The server may not have noticed yet that a former connection of this
   * program is gone: that is ours, too.
   */
  async isHeld(isLast = false): Promise<boolean> {
    const values = [this.#holder, this.#name];
    const taken = await this.#pool.query<{ backend: string; free: 0 | 1 }>(this.#take, values);
    const [row] = taken.rows;
    if (row === undefined) throw new Error('the lock of the node was not answered');
    if (row.free === 1) {
      this.#holder = row.backend;
      this.#own.add(row.backend);
      return true;
    }
    const held = await this.#pool.query<Holder>(this.#findHolder, [this.#name]);
    const [holder] = held.rows;
    if (holder === undefined) {
      // It has ended since, or a copy uses the whole database.
      return isLast ? false : this.isHeld(true);
    }
    if (this.#own.has(holder.backend)) return true;
    if (this.#lockClass === LOCK_CLASS.upkeep && holder.idleMs > UPKEEP_IDLE_MS) {
      await this.#end(holder);
    }
    return false;
  }

  /** Its program, or its machine, stands still. A user may end all connections of its own. */
  async #end({ pid }: Holder): Promise<void> {
    await this.#pool.query('select pg_terminate_backend($1)', [pid]).catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) throw error;
    });
  }
}

interface Holder {
  /** Of the connection that has the lock. */
  readonly backend: string;
  readonly pid: number;
  /** Since its last question. */
  readonly idleMs: number;
}

function taken(url: string, nodeId: string): CommandError {
  const message =
    `another coordinator named '${nodeId}' uses ${withoutPassword(url)}. Stop that one, or give ` +
    'this one a name of its own with GATEWAY_NODE_NAME.';
  return new CommandError(EXIT.conflict, message);
}
