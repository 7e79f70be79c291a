/**
 * Gives queued jobs to free slots. It is woken by submissions, freed slots and arrivals, and ticks
 * every second besides: a signal is a hint, and losing one costs a second. What goes where is
 * decided by `core/jobs/job-plan.ts`; here is what that does to the world.
 */
import { ulid } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { affordableClaims, planClaims } from '../core/jobs/job-plan.js';
import type { PlannedClaim } from '../core/jobs/job-plan.js';
import type { Lane, LaneHead } from '../core/jobs/lane.js';
import type { Candidate } from '../core/routing/match.js';
import type { Budget } from '../core/usage/budget.js';
import type { Reservation, Links } from '../core/routing/links.js';
import type { DispatchStore, NewClaim } from '../store/port.js';
import type { JobRuns } from './claims.js';
import type { Upkeep } from './upkeep.js';

export const TICK_MS = 1_000;
/** Claims written in one operation, and jobs looked at of one lane. */
const MAX_CLAIMS = 64;
/** Requests that were read and that no agent has accepted yet, if the budget has room for them. */
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

export interface DispatcherParts {
  readonly store: DispatchStore;
  readonly links: Links;
  readonly runs: JobRuns;
  /** Memory for requests and answers, which calls take theirs from, too. */
  readonly budget: Budget;
  readonly upkeep: Upkeep;
  readonly leaseMs: number;
  /** False: jobs are looked after, and none is given out. */
  readonly claims: boolean;
  readonly logger: Logger;
}

interface Booked extends PlannedClaim {
  readonly reservation: Reservation;
  readonly claim: NewClaim;
}

export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #ticker: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** The round under way, and whether something has happened since it began. */
  #round: Promise<void> | null = null;
  #again = false;
  #wakePending = false;
  /** The last round found nothing to run, and nobody has said since that there is something. */
  #isIdle = false;
  #isClosed = false;
  /** Unix ms of the last tick that ended well; null before the first. */
  lastTickAt: number | null = null;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#ticker = setInterval(() => void this.#tick(), TICK_MS).unref();
    this.#stopListening = parts.links.onCapacity(() => {
      // Every synchronous call frees a slot: without jobs, each would ask the store in vain.
      if (!this.#isIdle) this.wake();
    });
    void this.#tick();
  }

  /** After this turn of the event loop: synchronous calls take what has come free first. */
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
   * Takes a slot for a job that is about to be submitted, where nobody waits who could use it. The
   * function that is returned claims the job: called in the turn in which the store is asked to
   * create it, both share one commit, and a job that is not created cannot be claimed. Null: it
   * waits its turn as every other.
   */
  express(head: LaneHead): (() => void) | null {
    const { upkeep, claims } = this.#parts;
    if (!this.#isSettled || upkeep.isPaused || !claims) return null;
    const plan = planClaims([head], (lane) => this.#candidatesOf(lane), 1);
    const [planned] = this.#affordable(plan);
    const booked = planned === undefined ? [] : this.#book(planned);
    if (booked.length === 0) return null;
    return () => {
      this.#claim(booked).catch((err: unknown) => {
        this.#parts.logger.warn({ err }, 'a new job cannot be claimed now');
      });
    };
  }

  /**
   * Whether the last round has seen everything that has happened: then no queued job can run on a
   * slot that is free now.
   */
  get #isSettled(): boolean {
    return (
      this.lastTickAt !== null && !this.#wakePending && this.#round === null && !this.#isClosed
    );
  }

  /** Claims nothing from now on; resolves when what is under way has ended. */
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
      // Not awaited: in a flood one round follows the other without an end.
      void this.#run();
      this.lastTickAt = Date.now();
    } catch (err) {
      this.#parts.logger.warn({ err }, 'the dispatcher cannot use the database');
    }
  }

  /** One round at a time; whoever asks during one is served by the next. */
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
    const { store, links, upkeep, claims } = this.#parts;
    const free = upkeep.isPaused || !claims ? 0 : links.freeJobSlots(MAX_CLAIMS);
    if (free === 0) return false;
    // Before it is asked: whoever wakes meanwhile knows better.
    this.#isIdle = true;
    const heads = await store.laneHeads(free);
    if (heads.length === 0 || this.#isClosed) return false;
    this.#isIdle = false;
    const plan = planClaims(heads, (lane) => this.#candidatesOf(lane), MAX_CLAIMS);
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

  #candidatesOf({ serviceType, model }: Lane): readonly Candidate[] {
    return this.#parts.links.candidates(serviceType, model);
  }

  /** Takes the slot before the claim is written: nobody else can have it meanwhile. */
  #book(planned: PlannedClaim): Booked[] {
    const { job, choice } = planned;
    const reservation = this.#parts.links.reserve(choice);
    if (reservation === null || choice.linkId === null) return [];
    const { providerId, linkId, serviceId, grant } = choice;
    const now = Date.now();
    const leaseUntil = now + this.#parts.leaseMs;
    const claim = {
      jobId: job.id,
      // Random, and in the order of time: new claims lie side by side in the index of all.
      claimId: ulid(now),
      providerId,
      linkId,
      serviceId,
      leaseUntil,
      isOwn: grant.shareId === null,
    };
    return [{ ...planned, reservation, claim }];
  }

  async #claim(booked: readonly Booked[]): Promise<void> {
    const { store, runs } = this.#parts;
    const claims = booked.map(({ claim }) => claim);
    const claimed = await store.claimJobs(claims, Date.now()).catch((error: unknown) => {
      for (const { reservation } of booked) reservation.release();
      throw error;
    });
    for (const [i, { reservation, choice }] of booked.entries()) {
      const won = claimed[i] ?? null;
      if (won === null) reservation.release();
      else runs.start(...won, { choice, reservation });
    }
  }
}
