/** The store's engine on PostgreSQL: each call is a transaction on a connection of the pool. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ApiError } from '@inference-gateway/shared/errors';
import type { SharingFacts } from '../../core/access/sharing.js';
import { MAX_PENDING_CALLS, storageUnavailable } from '../client/client.js';
import type { StoreEngine } from '../client/client.js';
import { OPERATIONS } from '../operations/all.js';
import { SYSTEM } from '../operations/audit/audit-trail.js';
import type { Act } from '../operations/audit/audit-trail.js';
import { finishJobs } from '../operations/jobs/dispatch.js';
import type { JobFinish } from '../operations/jobs/dispatch.js';
import { createJobs } from '../operations/jobs/jobs.js';
import type { JobCreation } from '../operations/jobs/jobs.js';
import type { CreateOutcome, DatabaseFacts, FinishOutcome } from '../port.js';
import type {
  OperationArguments,
  OperationName,
  OperationResult,
} from '../operations/operations.js';
import { valueOf } from '../operations/statement.js';
import type { Operation } from '../operations/statement.js';
import { carryOut } from './carry-out.js';
import type { Epochs, Isolation, ReadEpochs } from './carry-out.js';
import { asCommandError, isServerError, Pool } from './connection.js';
import { Gathering } from './gathering.js';
import { ISOLATION, locksBefore } from './isolation.js';
import { migratePostgres } from './migrations.js';
import { holdNode } from './node-lock.js';
import type { NodeLock } from './node-lock.js';
import { clockWarning, LOOK_INTERVAL_MS, MAX_SKEW_MS, requireClock, Watch } from './watch.js';

/**
 * What was read for longer ago may have been changed by other coordinators: nothing is admitted by
 * it then.
 */
export const UNCONFIRMED_MS = 3_000;

/** As many looks in a row without an answer mean that the server is away. */
const AWAY_AFTER_LOOKS = 2;

const LOCK_INTERVAL_MS = 1_000;

/** A difference of the clocks is told again after this time. */
const WARNING_GAP_MS = 60_000;

export interface EngineEvents {
  /** No operation is carried out any more, for a reason other than `close`. */
  readonly onEnded?: (reason: string) => void;
  /** The server's clock differs from this machine's: told once a minute at most. */
  readonly onClockWarning?: (warning: string) => void;
}

interface EngineOptions extends EngineEvents {
  readonly url: string;
  readonly nodeId: string;
  /** Unix ms; default: the system's clock. */
  readonly now?: () => number;
}

/**
 * Migrates the tables and opens the database. Throws a `CommandError`: `conflict` if another
 * coordinator of this id uses it, `schemaNewer` if a newer program has migrated it, `usage` if its
 * clock differs by too much.
 */
export async function openPostgres(options: EngineOptions): Promise<StoreEngine> {
  const { url, nodeId, now = SYSTEM_CLOCK.now } = options;
  const pool = new Pool(url);
  const watch = new Watch(url, now);
  try {
    await pool.use((connection) => migratePostgres(connection, url));
    const { clockLeadMs } = await watch.look();
    requireClock(url, clockLeadMs);
    const lock = await holdNode(url, nodeId);
    return new PostgresEngine({ pool, watch, lock, nodeId, events: options });
  } catch (error) {
    await watch.close();
    await pool.close();
    throw asCommandError(error, url);
  }
}

/** Without the lock of the node, for tests. */
export function openPeer(options: EngineOptions): StoreEngine {
  const { url, nodeId, now = SYSTEM_CLOCK.now } = options;
  const watch = new Watch(url, now);
  return new PostgresEngine({ pool: new Pool(url), watch, lock: null, nodeId, events: options });
}

interface EngineParts {
  readonly pool: Pool;
  readonly watch: Watch;
  readonly lock: NodeLock | null;
  readonly nodeId: string;
  readonly events: EngineEvents;
}

class PostgresEngine implements StoreEngine {
  readonly #parts: EngineParts;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #pending = new Set<Promise<unknown>>();
  /** Why no further call is accepted. */
  #ended: string | null = null;
  #keysEpoch = 0;
  #sharingEpoch = 0;
  #onKeys = (): void => {};
  #onSharing: ((facts: SharingFacts) => void) | null = null;
  #telling: Promise<void> | null = null;
  #lastChange: Promise<unknown> = Promise.resolve();
  /** Monotonic: all changes that were committed before are known here. */
  #confirmedAt = -Infinity;
  /** Monotonic: only readings from then on confirm. */
  #distrustedAt = -Infinity;
  #looking: Promise<void> | null = null;
  #failedLooks = 0;
  #clockLeadMs = 0;
  #warnedAt = -Infinity;
  #isCheckingLock = false;
  readonly #creations = new Gathering<JobCreation, CreateOutcome>({
    carryOut: (calls) => this.#run(BY_SYSTEM, COMMITTED, () => createJobs(calls)),
    lockOf: ({ submission }) => submission.memberId,
    isFinal: isServerError,
  });
  readonly #finishes = new Gathering<JobFinish, FinishOutcome>({
    carryOut: (calls) => this.#run(BY_SYSTEM, COMMITTED, () => finishJobs(calls)),
    lockOf: ({ finish }) => finish.claimId,
    isFinal: isServerError,
  });

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#look();
    this.#timers = [
      setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref(),
      setInterval(() => void this.#checkLock(), LOCK_INTERVAL_MS).unref(),
    ];
  }

  async call<Name extends OperationName>(
    act: Act,
    name: Name,
    ...args: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    if (this.#ended !== null) throw storageUnavailable(this.#ended);
    // Each would wait for a time limit that is meant for slow operations.
    if (this.#isAway) throw storageUnavailable('the server does not answer');
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

  isCurrent(): boolean {
    return Math.abs(this.#clockLeadMs) <= MAX_SKEW_MS && this.#isConfirmed;
  }

  clockWarning(): string | null {
    return clockWarning(this.#clockLeadMs);
  }

  async close(): Promise<void> {
    this.#ended ??= 'it has been closed';
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.allSettled([...this.#pending, this.#looking, this.#telling]);
    const { lock, watch, pool } = this.#parts;
    await lock?.release();
    await watch.close();
    await pool.close();
  }

  get #isConfirmed(): boolean {
    return performance.now() - this.#confirmedAt < UNCONFIRMED_MS;
  }

  get #isAway(): boolean {
    return this.#failedLooks >= AWAY_AFTER_LOOKS && !this.#isConfirmed;
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
        case 'holdsUpkeep':
          return (await this.#parts.lock?.holdsUpkeep()) ?? true;
        case 'createJob': {
          const [submission, limits, now] = args as OperationArguments<'createJob'>;
          return await this.#creations.call({ submission, limits, now });
        }
        case 'finishJob': {
          const [finish, now] = args as OperationArguments<'finishJob'>;
          return await this.#finishes.call({ finish, now });
        }
        default: {
          const operation = OPERATIONS[name] as (...of: readonly unknown[]) => Operation<unknown>;
          const kind = { isolation: ISOLATION[name], locks: locksBefore(name, args) };
          return await this.#run(act, kind, () => operation(...args));
        }
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (isServerError(error)) throw storageUnavailable(error.message);
      throw new Error(`${name} failed: ${(error as Error).message}`, { cause: error });
    }
  }

  async #run<Result>(
    { actor, at }: Act,
    kind: { readonly isolation: Isolation; readonly locks?: readonly string[] },
    begin: () => Operation<Result>,
  ): Promise<Result> {
    const { pool, nodeId } = this.#parts;
    const context = { actor, at, nodeId };
    const { isolation } = kind;
    const transaction = { ...kind, begin, context };
    const run = () => carryOut(pool, transaction);
    const { value, epochs } = await (isolation === 'serializable' ? this.#inTurn(run) : run());
    const isTold = epochs !== null && (await this.#confirm(epochs));
    // The next look tells what this operation may have changed.
    if (!isTold && isolation !== 'read') this.#distrust();
    return value;
  }

  /** False if the server failed before all was told. */
  async #confirm(epochs: ReadEpochs): Promise<boolean> {
    try {
      await this.#tell(epochs);
    } catch (error) {
      if (isServerError(error)) return false;
      throw error;
    }
    const { readAt } = epochs;
    if (readAt >= this.#distrustedAt) this.#confirmedAt = Math.max(this.#confirmedAt, readAt);
    return true;
  }

  #distrust(): void {
    this.#distrustedAt = performance.now();
    this.#confirmedAt = -Infinity;
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
    const { watch, nodeId } = this.#parts;
    const read = { isolation: 'read', begin: factsWithEpoch } as const;
    const context = { actor: SYSTEM, at: 0, nodeId };
    const { value } = await carryOut(watch.pool, { ...read, context });
    this.#sharingEpoch = value.epoch;
    this.#onSharing?.(value.facts);
  }

  #look(): void {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = null));
  }

  async #lookOnce(): Promise<void> {
    try {
      const { epochs, clockLeadMs } = await this.#parts.watch.look();
      this.#failedLooks = 0;
      this.#seeClock(clockLeadMs);
      // Without waiting: facts may take longer than the time between two looks.
      this.#confirm(epochs).catch(() => {});
    } catch {
      // Told by the operations that fail, too.
      this.#failedLooks += 1;
      if (!this.#isAway) return;
      this.#parts.pool.abandon();
      this.#parts.watch.pool.abandon();
    }
  }

  #seeClock(clockLeadMs: number): void {
    this.#clockLeadMs = clockLeadMs;
    const [warning, now] = [clockWarning(clockLeadMs), performance.now()];
    if (warning === null || now - this.#warnedAt < WARNING_GAP_MS) return;
    this.#warnedAt = now;
    this.#parts.events.onClockWarning?.(warning);
  }

  /** Its connection has long time limits: a new one would leave the name to others for a moment. */
  async #checkLock(): Promise<void> {
    const { lock, events } = this.#parts;
    if (lock === null || this.#isCheckingLock || this.#ended !== null) return;
    this.#isCheckingLock = true;
    const isHeld = await lock.isHeld().catch(() => true);
    this.#isCheckingLock = false;
    if (isHeld || this.#ended !== null) return;
    this.#ended = 'another coordinator of the same name uses the database';
    events.onEnded?.(this.#ended);
  }
}

const COMMITTED = { isolation: 'committed' } as const;

/** Of operations that do not ask for the actor. */
const BY_SYSTEM: Act = { actor: SYSTEM, at: 0 };

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
