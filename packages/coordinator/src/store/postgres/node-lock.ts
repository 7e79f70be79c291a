/** One coordinator of a name uses a database at a time. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { setTimeout } from 'node:timers/promises';
import { withoutPassword } from '../database-url.js';
import { LOCK_CLASS, Pool } from './connection.js';
import type { Connection } from './connection.js';

export interface NodeLock {
  /** False if the connection was lost and another coordinator has taken the name. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** PostgreSQL notices within 11 s that the machine of the last one is gone. */
const WAIT_TRIES = 30;
const WAIT_MS = 500;

/** Throws a `CommandError` `conflict` if another coordinator of this name goes on running. */
export async function holdNode(url: string, nodeId: string): Promise<NodeLock> {
  // PostgreSQL frees the lock when the connection ends, however the program does.
  const pool = new Pool(url, 1);
  let holder: number | null = null;
  const isHeld = async (): Promise<boolean> => {
    const { pid, isFree } = await take(pool, nodeId, holder);
    if (isFree) holder = pid;
    return isFree;
  };
  try {
    for (let tries = 1; !(await isHeld()); tries++) {
      if (tries === WAIT_TRIES) throw taken(url, nodeId);
      await setTimeout(WAIT_MS);
    }
    return { isHeld, release: () => pool.close() };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** The same until the end of a connection. */
export async function lockNode(connection: Connection, url: string, nodeId: string): Promise<void> {
  const text = `select pg_try_advisory_lock(${LOCK_CLASS.nodes}, hashtext($1)) as free`;
  const { rows } = await connection.query<{ free: 0 | 1 }>({ text, values: [nodeId] });
  if (rows[0]?.free !== 1) throw taken(url, nodeId);
}

/** Takes the lock, unless this connection has it: it would count how often it is taken. */
async function take(
  pool: Pool,
  nodeId: string,
  holder: number | null,
): Promise<{ readonly pid: number; readonly isFree: boolean }> {
  const text = `select pg_backend_pid() as pid, case when pg_backend_pid() = $1 then true
    else pg_try_advisory_lock(${LOCK_CLASS.nodes}, hashtext($2)) end as free`;
  const { rows } = await pool.query<{ pid: number; free: 0 | 1 }>(text, [holder ?? 0, nodeId]);
  const [row] = rows;
  if (row === undefined) throw new Error('the lock of the node was not answered');
  return { pid: row.pid, isFree: row.free === 1 };
}

function taken(url: string, nodeId: string): CommandError {
  const message =
    `another coordinator named '${nodeId}' uses ${withoutPassword(url)}. Stop that one, or name ` +
    'another database.';
  return new CommandError(EXIT.conflict, message);
}
