/**
 * Assigns queued jobs to free slots. It is woken by submissions, freed slots and new providers, and
 * ticks every second: a signal is a hint, and a lost one costs a second. The assignment is decided
 * by `core/jobs/job-plan.ts` and carried out here.
 */
import { ulid } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { affordableClaims, planClaims } from '../core/jobs/job-plan.js';
import type { PlannedClaim } from '../core/jobs/job-plan.js';
import type { Lane, LaneHead } from '../core/jobs/lane.js';
import type { Budget } from '../core/usage/budget.js';
import type { Reservation, Links } from '../core/routing/links.js';
import type { Claimed, DispatchStore, NewClaim } from '../store/port.js';
import type { JobRuns } from './claims.js';
import type { JobGate } from './job-gate.js';
import type { Upkeep } from './upkeep.js';

export const TICK_MS = 1_000;
/** Claims per operation of the store, and jobs read per lane. */
const MAX_CLAIMS = 64;
/** Requests that were read and not yet accepted by an agent, if the memory budget has room. */
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

export interface DispatcherParts {
  readonly store: DispatchStore;
  readonly links: Links;
  readonly runs: JobRuns;
  /** Memory budget for requests and answers, shared with synchronous calls. */
  readonly budget: Budget;
  readonly upkeep: Upkeep;
  /** What the keys of jobs allow now. */
  readonly gate: JobGate;
  readonly leaseMs: number;
  /** False: jobs are kept, but none is assigned. */
  readonly claims: boolean;
  readonly now: () => number;
  readonly logger: Logger;
}

interface Booked extends PlannedClaim {
  readonly reservation: Reservation;
  readonly claim: NewClaim;
}

/** A slot for a job that is about to be created. */
interface Express {
  /** What the job is to be created with. */
  readonly claim: NewClaim;
  /** Must be called once: starts the run, or releases the slot if the claim was not made. */
  readonly settle: (claimed: Claimed | null) => void;
}

export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #ticker: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** The current round, and whether something has changed since it began. */
  #round: Promise<void> | null = null;
  #again = false;
  #wakePending = false;
  /** The last round found nothing to run, and nothing has changed since. */
  #isIdle = false;
  #isClosed = false;
  /** Unix ms of the last successful tick; null before the first. */
  lastTickAt: number | null = null;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#ticker = setInterval(() => void this.#tick(), TICK_MS).unref();
    this.#stopListening = parts.links.onCapacity(() => {
      // Every synchronous call frees a slot: without jobs, each would query the store in vain.
      if (!this.#isIdle) this.wake();
    });
    void this.#tick();
  }

  /** After this turn of the event loop, so that synchronous calls take freed slots first. */
  readonly wake = (): void => {
    this.#isIdle = false;
    if (this.#wakePending || this.#isClosed) return;
    this.#wakePending = true;
    setImmediate(() => {
      this.#wakePending = false;
      void this.#run();
    });
  };

  /**
   * Takes a slot for a job that is about to be created, if no other work waits for it. Null: the
   * job is queued as every other.
   */
  async express(head: LaneHead): Promise<Express | null> {
    const { upkeep, gate, claims } = this.#parts;
    if (!this.#isSettled || upkeep.isPaused || !claims) return null;
    const [allowed] = await gate.open([head]);
    if (allowed === undefined || !this.#isSettled) return null;
    const plan = planClaims([allowed], this.#candidatesOf, 1);
    const [planned] = this.#affordable(plan);
    const [booked] = planned === undefined ? [] : this.#book(planned);
    if (booked === undefined) return null;
    return { claim: booked.claim, settle: (claimed) => this.#settle(booked, claimed) };
  }

  /**
   * Whether nothing has changed since the last round: then no queued job can run on a slot that is
   * free now.
   */
  get #isSettled(): boolean {
    return (
      this.lastTickAt !== null && !this.#wakePending && this.#round === null && !this.#isClosed
    );
  }

  /** Claims nothing from now on; resolves when the current round has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#stopListening();
    await this.#round;
  }

  async #tick(): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#parts.upkeep.tick();
      // Not awaited: under load one round follows the other without end.
      void this.#run();
      this.lastTickAt = this.#parts.now();
    } catch (err) {
      this.#parts.logger.warn({ err }, 'the dispatcher cannot use the database');
    }
  }

  /** One round at a time; a call during one is served by the next. */
  #run(): Promise<void> {
    this.#again = true;
    this.#round ??= this.#rounds().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#isClosed) {
      this.#again = false;
      try {
        if (await this.#claimRound()) this.#again = true;
      } catch (err) {
        // The next tick tries again.
        this.#parts.logger.warn({ err }, 'jobs cannot be claimed now');
      }
    }
  }

  /** True if there may be more to claim. */
  async #claimRound(): Promise<boolean> {
    const { store, links, upkeep, gate, claims } = this.#parts;
    const free = upkeep.isPaused || !claims ? 0 : links.freeJobSlots(MAX_CLAIMS);
    if (free === 0) return false;
    // Set before the query, so that a wake during it is not lost.
    this.#isIdle = true;
    const queued = await store.laneHeads(free);
    if (queued.length === 0) return false;
    this.#isIdle = false;
    const heads = await gate.open(queued);
    if (heads.length === 0 || this.#isClosed) return false;
    const plan = planClaims(heads, this.#candidatesOf, MAX_CLAIMS);
    const booked = this.#affordable(plan).flatMap((one) => this.#book(one));
    if (booked.length === 0) return false;
    await this.#claim(booked);
    return true;
  }

  #affordable(plan: readonly PlannedClaim[]): readonly PlannedClaim[] {
    const { runs, budget } = this.#parts;
    const heldBytes = runs.unsentBytes;
    const maxBytes = Math.min(MAX_UNSENT_BYTES, heldBytes + budget.freeBytes);
    return affordableClaims(plan, heldBytes, maxBytes);
  }

  readonly #candidatesOf = ({ serviceType, model }: Pick<Lane, 'serviceType' | 'model'>) =>
    this.#parts.links.candidates(serviceType, model);

  /** Takes the slot before the claim is written, so that no other work can take it meanwhile. */
  #book(planned: PlannedClaim): Booked[] {
    const { job, lane, choice } = planned;
    const { links, gate } = this.#parts;
    if (choice.linkId === null || !gate.reserve(lane.memberId, job)) return [];
    const reservation = links.reserve(choice);
    if (reservation === null) {
      gate.release(job.id);
      return [];
    }
    const { providerId, linkId, serviceId, grant } = choice;
    const now = this.#parts.now();
    const leaseUntil = now + this.#parts.leaseMs;
    const claim = {
      jobId: job.id,
      // Random, but ordered by time: new claims are adjacent in the index.
      claimId: ulid(now),
      providerId,
      linkId,
      serviceId,
      servedModel: lane.alias === undefined ? null : choice.model.id,
      leaseUntil,
      isOwn: grant.shareId === null,
      shareId: grant.shareId,
    };
    return [{ ...planned, reservation, claim }];
  }

  async #claim(booked: readonly Booked[]): Promise<void> {
    const { store, now } = this.#parts;
    const claims = booked.map(({ claim }) => claim);
    const claimed = await store.claimJobs(claims, now()).catch((error: unknown) => {
      for (const one of booked) this.#settle(one, null);
      throw error;
    });
    for (const [i, one] of booked.entries()) this.#settle(one, claimed[i] ?? null);
  }

  #settle({ reservation, choice, job }: Booked, claimed: Claimed | null): void {
    const { gate, runs } = this.#parts;
    if (claimed === null) {
      reservation.release();
      gate.release(job.id);
      return;
    }
    const [{ job: started }, body] = claimed;
    gate.claimed(started, body);
    runs.start(...claimed, { choice, reservation });
  }
}
