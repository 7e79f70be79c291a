/** The store's engine on PostgreSQL: each call is a transaction on a connection of the pool. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { SharingFacts } from '../../core/access/sharing.js';
import { MAX_PENDING_CALLS, storageUnavailable } from '../client/client.js';
import type { StoreEngine } from '../client/client.js';
import { OPERATIONS } from '../operations/all.js';
import { SYSTEM } from '../operations/audit/audit-trail.js';
import type { Act } from '../operations/audit/audit-trail.js';
import { claimJob } from '../operations/jobs/claims.js';
import type { DatabaseFacts } from '../port.js';
import type {
  OperationArguments,
  OperationName,
  OperationResult,
} from '../operations/operations.js';
import { valueOf } from '../operations/statement.js';
import type { Operation } from '../operations/statement.js';
import { carryOut } from './carry-out.js';
import type { Epochs, Isolation } from './carry-out.js';
import { asCommandError, isServerError, Pool } from './connection.js';
import { ISOLATION } from './isolation.js';
import { migratePostgres } from './migrations.js';
import { holdNode } from './node-lock.js';
import type { NodeLock } from './node-lock.js';

/** Changes by other programs are noticed within this time, also without operations here. */
const WATCH_INTERVAL_MS = 1_000;

interface EngineOptions {
  readonly url: string;
  readonly nodeId: string;
}

/**
 * Migrates the tables and opens the database. Throws a `CommandError`: `conflict` if another
 * coordinator of this id uses it, `schemaNewer` if a newer program has migrated it.
 */
export async function openPostgres({ url, nodeId }: EngineOptions): Promise<StoreEngine> {
  const pool = new Pool(url);
  try {
    await pool.use((connection) => migratePostgres(connection, url));
    const lock = await holdNode(url, nodeId);
    return new PostgresEngine({ pool, lock, nodeId });
  } catch (error) {
    await pool.close();
    throw asCommandError(error, url);
  }
}

/** Without the lock of the node, for tests. */
export function openPeer({ url, nodeId }: EngineOptions): StoreEngine {
  return new PostgresEngine({ pool: new Pool(url), lock: null, nodeId });
}

interface EngineParts {
  readonly pool: Pool;
  readonly lock: NodeLock | null;
  readonly nodeId: string;
}

class PostgresEngine implements StoreEngine {
  readonly #parts: EngineParts;
  readonly #watch: NodeJS.Timeout;
  readonly #pending = new Set<Promise<unknown>>();
  /** Why no further call is accepted. */
  #ended: string | null = null;
  #keysEpoch = 0;
  #sharingEpoch = 0;
  #onKeys = (): void => {};
  #onSharing: ((facts: SharingFacts) => void) | null = null;
  #telling: Promise<void> | null = null;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#watch = setInterval(() => void this.#look(), WATCH_INTERVAL_MS).unref();
  }

  async call<Name extends OperationName>(
    act: Act,
    name: Name,
    ...args: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    if (this.#ended !== null) throw storageUnavailable(this.#ended);
    if (this.#pending.size >= MAX_PENDING_CALLS) {
      throw storageUnavailable(`${MAX_PENDING_CALLS} operations wait for it already`);
    }
    const outcome = this.#answer(act, name, args);
    this.#pending.add(outcome);
    try {
      return (await outcome) as OperationResult<Name>;
    } finally {
      this.#pending.delete(outcome);
    }
  }

  watchKeys(listener: () => void): void {
    this.#onKeys = listener;
  }

  watchSharing(listener: (facts: SharingFacts) => void): void {
    this.#onSharing = listener;
  }

  async close(): Promise<void> {
    this.#ended ??= 'it has been closed';
    clearInterval(this.#watch);
    await Promise.allSettled(this.#pending);
    await this.#parts.lock?.release();
    await this.#parts.pool.close();
  }

  async #answer(act: Act, name: OperationName, args: readonly unknown[]): Promise<unknown> {
    try {
      switch (name) {
        // PostgreSQL reclaims space by itself.
        case 'releasePages':
          return 0;
        case 'compact':
          return { freedBytes: 0, lacksRoom: false };
        case 'databaseFacts':
          return await databaseFacts(this.#parts.pool);
        case 'claimJobs':
          return await this.#claimEach(act, args as OperationArguments<'claimJobs'>);
        default: {
          const operation = OPERATIONS[name] as (...of: readonly unknown[]) => Operation<unknown>;
          return await this.#run(act, ISOLATION[name], () => operation(...args));
        }
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (isServerError(error)) throw storageUnavailable(error.message, error);
      throw new Error(`${name} failed: ${(error as Error).message}`, { cause: error });
    }
  }

  /**
   * A transaction for each: one for all would lock the rows of many members in an order that
   * another coordinator does not share. A claim that fails takes nothing, and its job is offered
   * again.
   */
  async #claimEach(
    act: Act,
    [claims, now]: OperationArguments<'claimJobs'>,
  ): Promise<OperationResult<'claimJobs'>> {
    const taken = await Promise.allSettled(
      claims.map((claim) => this.#run(act, 'committed', () => claimJob(claim, now))),
    );
    const failed = taken.find((one) => one.status === 'rejected');
    const isAnyTaken = taken.some((one) => one.status === 'fulfilled' && one.value !== null);
    if (failed !== undefined && !isAnyTaken) throw failed.reason;
    return taken.map((one) => (one.status === 'fulfilled' ? one.value : null));
  }

  async #run<Result>(
    { actor, at }: Act,
    isolation: Isolation,
    begin: () => Operation<Result>,
  ): Promise<Result> {
    const { pool, nodeId } = this.#parts;
    const context = { actor, at, nodeId };
    const transaction = { isolation, begin, context };
    const run = () => carryOut(pool, transaction);
    const { value, epochs } = await (isolation === 'serializable' ? this.#inTurn(run) : run());
    await this.#tell(epochs);
    return value;
  }

  /** Changes of this coordinator use one connection, and leave the others to calls and jobs. */
  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const outcome = this.#lastChange.then(run);
    this.#lastChange = outcome.catch(() => {});
    return outcome;
  }

  /** Tells watchers what has changed, by whichever program, before a call is answered. */
  async #tell({ keys, sharing }: Epochs): Promise<void> {
    if (keys > this.#keysEpoch) {
      this.#keysEpoch = keys;
      this.#onKeys();
    }
    if (this.#onSharing === null) this.#sharingEpoch = Math.max(this.#sharingEpoch, sharing);
    // Facts that are being read already may be older than this epoch.
    while (this.#sharingEpoch < sharing) {
      this.#telling ??= this.#tellSharing().finally(() => (this.#telling = null));
      await this.#telling;
    }
  }

  async #tellSharing(): Promise<void> {
    const { pool, nodeId } = this.#parts;
    const context = { actor: SYSTEM, at: 0, nodeId };
    const { value } = await carryOut(pool, { isolation: 'read', begin: factsWithEpoch, context });
    this.#sharingEpoch = value.epoch;
    this.#onSharing?.(value.facts);
  }

  async #look(): Promise<void> {
    const { lock } = this.#parts;
    try {
      if ((await lock?.isHeld()) === false) {
        this.#ended ??= 'another coordinator of the same name uses the database';
        return;
      }
      await this.call({ actor: SYSTEM, at: 0 }, 'isQueuePaused');
    } catch {
      // Told by the operations that fail, too.
    }
  }
}

async function databaseFacts(pool: Pool): Promise<DatabaseFacts> {
  const { rows } = await pool.query<Omit<DatabaseFacts, 'logBytes'>>(
    `select pg_database_size(current_database()) as bytes, version as "schemaVersion"
     from schema_version`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table of the schema version is empty');
  return { ...row, logBytes: 0 };
}

const sharingEpoch = valueOf<object, number>("select value from epochs where name = 'sharing'");

/** From one snapshot. */
function* factsWithEpoch(): Operation<{ readonly epoch: number; readonly facts: SharingFacts }> {
  const epoch = (yield* sharingEpoch.get({})) ?? 0;
  return { epoch, facts: yield* OPERATIONS.sharingFacts() };
}
