/**
 * Decides which queued jobs go to which providers now: a pure function of the first jobs of every
 * lane and a snapshot of the providers. Jobs that members run on their own machines always come
 * first; the others follow in the order of their fair keys. A job that cannot run now never blocks
 * one that can.
 */
import type { Lane, OpenHead, QueuedJob } from './lane.js';
import { avoidedFor } from './transition.js';
import { match } from '../routing/match.js';
import type { Candidate, Choice, Match } from '../routing/match.js';

export interface PlannedClaim {
  readonly job: QueuedJob;
  readonly lane: Lane;
  readonly choice: Choice;
}

/**
 * `candidatesOf` returns every provider that serves, or last served, the model. At most `most` jobs
 * are planned, because each one scans all providers of its model.
 */
export function planClaims(
  heads: readonly OpenHead[],
  candidatesOf: CandidatesOf,
  most = Infinity,
): readonly PlannedClaim[] {
  const plan = new Plan(heads, candidatesOf, most);
  plan.assign((lane, candidates) => candidates.filter(({ ownerId }) => ownerId === lane.memberId));
  plan.assign((_, candidates) => candidates);
  return plan.claims;
}

type CandidatesOf = (of: Pick<Lane, 'serviceType' | 'model'>) => readonly Candidate[];

/**
 * The first of the claims, in their order, whose requests fit into the free memory. If nothing is
 * held, at least one claim of any size.
 */
export function affordableClaims(
  plan: readonly PlannedClaim[],
  heldBytes: number,
  maxBytes: number,
): readonly PlannedClaim[] {
  let sum = heldBytes;
  const end = plan.findIndex(({ job }) => {
    const isTooMuch = sum > 0 && sum + job.bodyBytes > maxBytes;
    sum += job.bodyBytes;
    return isTooMuch;
  });
  return end === -1 ? plan : plan.slice(0, end);
}

interface Entry {
  readonly head: OpenHead;
  readonly job: QueuedJob;
}

type Narrowing = (lane: Lane, candidates: readonly Candidate[]) => readonly Candidate[];

class Plan {
  readonly claims: PlannedClaim[] = [];
  /** By service type and model: computing them per lane would cost more than the plan. */
  readonly #candidates = new Map<string, readonly Candidate[]>();
  readonly #candidatesOf: CandidatesOf;
  /** The same candidates, less the slots that this plan has taken so far. */
  readonly #left = new Map<readonly Candidate[], readonly Candidate[]>();
  /** Slots taken by this plan, by provider and service. */
  readonly #taken = new Map<string, number>();
  /** Slots taken by this plan, by share. */
  readonly #takenOfShare = new Map<string, number>();
  readonly #most: number;
  #waiting: readonly Entry[];

  constructor(heads: readonly OpenHead[], candidatesOf: CandidatesOf, most: number) {
    this.#most = most;
    this.#candidatesOf = candidatesOf;
    this.#waiting = heads
      .flatMap((head) => head.jobs.map((job) => ({ head, job })))
      .toSorted((a, b) => a.job.fairKey - b.job.fairKey || (a.job.id < b.job.id ? -1 : 1));
  }

  /** Gives each waiting job, in order, to the best of the providers that `narrow` leaves. */
  assign(narrow: Narrowing): void {
    const stuck = new Set<OpenHead>();
    this.#waiting = this.#waiting.filter(({ head, job }) => {
      // If the first job of a lane cannot run, no job of the lane can.
      if (stuck.has(head) || this.claims.length >= this.#most) return true;
      const chosen = this.#choose(head, narrow);
      if (chosen === null) stuck.add(head);
      else this.#take({ lane: head.lane, job, choice: chosen });
      return chosen === null;
    });
  }

  #choose({ lane, models = [lane.model] }: OpenHead, narrow: Narrowing): Choice | null {
    const { serviceType } = lane;
    const chain = models.map((model): Stage => {
      const all = this.#allOf({ serviceType, model });
      return { model, all, asked: narrow(lane, this.#leftOf(all)) };
    });
    return chooseFrom(lane, chain);
  }

  #allOf(of: Pick<Lane, 'serviceType' | 'model'>): readonly Candidate[] {
    const key = `${of.serviceType} ${of.model}`;
    const all = this.#candidates.get(key) ?? this.#candidatesOf(of);
    this.#candidates.set(key, all);
    return all;
  }

  #leftOf(all: readonly Candidate[]): readonly Candidate[] {
    const left = this.#left.get(all) ?? all.map(this.#withoutTaken);
    this.#left.set(all, left);
    return left;
  }

  readonly #withoutTaken = (candidate: Candidate): Candidate => {
    const taken = this.#taken.get(keyOf(candidate)) ?? 0;
    const shares = candidate.shares.map((share) => {
      const { id, slotsLeft } = share;
      if (slotsLeft === null) return share;
      return { ...share, slotsLeft: Math.max(0, slotsLeft - (this.#takenOfShare.get(id) ?? 0)) };
    });
    // Only one call may probe a provider that failed, and this plan may already have used that
    // probe.
    const health = candidate.health === 'probe' && taken > 0 ? 'open' : candidate.health;
    const busySlots = candidate.busySlots + taken;
    const freeSlots = candidate.freeJobSlots - taken;
    return { ...candidate, shares, health, busySlots, freeSlots };
  };

  #take(planned: PlannedClaim): void {
    const { choice } = planned;
    addOne(this.#taken, keyOf(choice));
    if (choice.grant.shareId !== null) addOne(this.#takenOfShare, choice.grant.shareId);
    this.claims.push(planned);
    this.#changeLeft(choice.providerId);
  }

  /** Slots and shares belong to one provider, so no other candidate changes. */
  #changeLeft(providerId: string): void {
    for (const [all, left] of this.#left) {
      const changed = all.map((one, i) =>
        one.providerId === providerId ? this.#withoutTaken(one) : (left[i] ?? one),
      );
      this.#left.set(all, changed);
    }
  }
}

/** One model of a chain, and its providers: all, and those that this pass asks. */
interface Stage {
  readonly model: string;
  readonly all: readonly Candidate[];
  readonly asked: readonly Candidate[];
}

/**
 * The first model that is served is taken, or waited for. A provider that has failed the job gets
 * it again only if no other provider is online.
 */
function chooseFrom(lane: Lane, chain: readonly Stage[]): Choice | null {
  for (const [at, { model, asked, all }] of chain.entries()) {
    const shunned = [...lane.excluded, ...avoidedFor(lane.avoided, model)];
    const preferred = matchWithout(lane, asked, shunned);
    if (preferred.kind === 'chosen') return preferred.choice;
    const isLast = lane.avoided.length === 0 && at === chain.length - 1;
    if (isLast || isServed(matchWithout(lane, all, shunned))) return null;
  }
  for (const { asked, all } of chain) {
    const any = matchWithout(lane, asked, lane.excluded);
    if (any.kind === 'chosen') return any.choice;
    if (chain.length > 1 && isServed(matchWithout(lane, all, lane.excluded))) return null;
  }
  return null;
}

function isServed({ kind }: Match): boolean {
  return kind === 'chosen' || kind === 'busy';
}

function matchWithout(
  { memberId, scope, needs }: Lane,
  candidates: readonly Candidate[],
  excluded: readonly string[],
): Match {
  const caller = { memberId, scope };
  return match(candidates, { caller, needs, excluded: new Set(excluded) });
}

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function keyOf({ providerId, serviceId }: Candidate): string {
  return `${providerId} ${serviceId}`;
}
