/**
 * Writes the end of a run, and acknowledges it to the agent when it is safe on the disk. If the
 * database cannot write it, it is tried again; meanwhile the agent keeps the result.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type {
  DispatchStore,
  EndOutcome,
  FinishOutcome,
  HeldClaim,
  Job,
  JobUsage,
  UsageRow,
} from '../store/port.js';
import type { Metered } from '../core/usage/usage-bounds.js';
import type { JobVerdict } from '../run/failure.js';
import type { JobRun, RunEnd } from './job-run.js';
import type { JobSinks } from './sinks.js';
import { brokenRun } from './job-run.js';

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 15_000;
/** An hour without a successful write; then the lease ends, or the agent's next link helps. */
const MAX_TRIES = 240;

interface RunEndsParts {
  readonly store: DispatchStore;
  readonly sinks: JobSinks;
  readonly now: () => number;
  readonly logger: Logger;
  readonly onChange: (job: Job, usage: UsageRow | null) => void;
}

interface Finish {
  readonly outcome: FinishOutcome | null;
  readonly tries: number;
}

export class RunEnds {
  readonly #parts: RunEndsParts;
  readonly #closing = new AbortController();

  constructor(parts: RunEndsParts) {
    this.#parts = parts;
  }

  /** No retries from now on. */
  close(): void {
    this.#closing.abort();
  }

  /** Without waiting: later writes follow it in order. */
  accepted({ claimId, linkId }: HeldClaim, limitMs: number): void {
    const now = this.#parts.now();
    const accepting = this.#parts.store.acceptJob({ claimId, linkId }, now + limitMs, now);
    accepting.catch((err: unknown) => {
      this.#parts.logger.warn({ err, claim: claimId }, 'cannot note that a job was accepted');
    });
  }

  async write(run: JobRun, end: RunEnd): Promise<void> {
    if (end.kind === 'done') return this.#finish(run, toUsage(run, end.metered));
    await run.sink.drop();
    // A canceled job no longer belongs to this run, and one whose link is lost may continue.
    if (end.kind === 'canceled' || end.verdict.fate === 'leave') return undefined;
    const outcome = await this.end(run.claim, end.verdict);
    if (outcome !== null) run.acknowledge(outcome.kind === 'stale' ? 'stale' : 'stored');
    return undefined;
  }

  /** Null if the database could not write it. */
  async end({ claimId, linkId }: HeldClaim, verdict: JobVerdict): Promise<EndOutcome | null> {
    const { fate } = verdict;
    if (fate === 'leave') return null;
    const { store, now } = this.#parts;
    const { error } = verdict.error.body;
    const outcome = await this.#write(() => {
      const ended = { claimId, linkId, error, random: Math.random() };
      return fate === 'fail' || fate === 'retry'
        ? store.failJob({ ...ended, retryable: fate === 'retry' }, now())
        : store.releaseJob({ ...ended, counts: fate === 'count' }, now());
    });
    if (outcome !== null) this.#tell(outcome);
    return outcome;
  }

  /** The job never reached its provider. */
  async release(claim: HeldClaim, error: ApiError): Promise<void> {
    await this.end(claim, { fate: 'release', error });
  }

  async #finish(run: JobRun, usage: JobUsage): Promise<void> {
    const { outcome, tries } = await this.#store(run, usage);
    if (outcome === null) return run.sink.discard();
    switch (outcome.kind) {
      case 'stored':
        run.sink.discard();
        this.#parts.onChange(outcome.job, outcome.usage);
        return run.acknowledge('stored');
      case 'full':
      case 'member_full': {
        await run.sink.drop();
        const error = this.#parts.sinks.library.fullError(outcome.kind);
        const noted = await this.end(run.claim, { fate: 'fail', error });
        if (noted !== null) run.acknowledge('stored');
        return undefined;
      }
      case 'duplicate':
      case 'stale':
        // A write that seemed to fail may have stored these files. If not, the sweep removes them.
        if (tries > 1) run.sink.discard();
        else await run.sink.drop();
        return run.acknowledge(outcome.kind);
    }
  }

  /** `outcome`: null if the database could not write it: the agent keeps the result. */
  async #store(run: JobRun, usage: JobUsage): Promise<Finish> {
    const { store, sinks, now } = this.#parts;
    const { text, assets } = run.sink.result;
    const { claim } = run;
    const finish = { ...claim, result: text, assets, assetLimits: sinks.library.limits, usage };
    let tries = 0;
    const write = (): Promise<FinishOutcome> => {
      tries += 1;
      return store.finishJob(finish, now());
    };
    try {
      return { outcome: await this.#write(write), tries };
    } catch (error) {
      // The database refuses this result itself, and would do so again.
      this.#parts.logger.error({ err: error, claim: claim.claimId }, 'a result cannot be stored');
      await run.sink.drop();
      const told = brokenRun(error);
      const noted = await this.end(claim, { fate: 'retry', error: told });
      return { outcome: noted === null ? null : { kind: 'stale' }, tries };
    }
  }

  #tell(outcome: EndOutcome): void {
    if (outcome.kind === 'stale') return;
    this.#parts.onChange(outcome.job, outcome.kind === 'failed' ? outcome.usage : null);
  }

  /** Null if it was given up. Throws errors that are not of the storage. */
  async #write<T>(operation: () => Promise<T>): Promise<T | null> {
    for (let tries = 1, waitMs = FIRST_RETRY_MS; tries <= MAX_TRIES; tries++) {
      try {
        return await operation();
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (tries === 1) this.#parts.logger.warn({ err: error }, 'the end of a job waits');
      }
      await this.#pause(waitMs);
      if (this.#closing.signal.aborted) return null;
      waitMs = Math.min(LONGEST_RETRY_MS, waitMs * 2);
    }
    return null;
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }
}

function toUsage(run: JobRun, metered: Metered): JobUsage {
  return {
    ...metered,
    ...run.sink.result.measures,
    firstByteMs: run.firstByteMs,
  };
}
