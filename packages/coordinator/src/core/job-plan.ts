/**
 * Which queued jobs go to which providers now: one pure decision over the first jobs of every lane
 * and a snapshot of the providers. Members' own jobs on their own machines come first, strictly;
 * the rest in the order of their fair keys. What cannot run now hides nothing that can.
 */
import type { Lane, LaneHead, QueuedJob } from './lane.js';
import { match } from './match.js';
import type { Candidate, Match } from './match.js';

export interface PlannedClaim {
  readonly job: QueuedJob;
  readonly lane: Lane;
  readonly candidate: Candidate;
}

/** `candidatesOf` tells every provider that serves, or last served, the lane's model. */
export function planClaims(
  heads: readonly LaneHead[],
  candidatesOf: (lane: Lane) => readonly Candidate[],
): readonly PlannedClaim[] {
  const plan = new Plan(heads, candidatesOf);
  plan.assign((lane, candidates) => candidates.filter(({ ownerId }) => ownerId === lane.memberId));
  plan.assign((_, candidates) => candidates);
  return plan.claims;
}

/**
 * The first of them, in their order, whose requests there is memory for beside what is held; where
 * nothing is held, one at least, however long it is.
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
  readonly head: LaneHead;
  readonly job: QueuedJob;
}

type Choice = (lane: Lane, candidates: readonly Candidate[]) => readonly Candidate[];

class Plan {
  readonly claims: PlannedClaim[] = [];
  readonly #candidates = new Map<LaneHead, readonly Candidate[]>();
  /** Taken by this plan, by provider and service. */
  readonly #taken = new Map<string, number>();
  #waiting: readonly Entry[];

  constructor(heads: readonly LaneHead[], candidatesOf: (lane: Lane) => readonly Candidate[]) {
    for (const head of heads) this.#candidates.set(head, candidatesOf(head.lane));
    this.#waiting = heads
      .flatMap((head) => head.jobs.map((job) => ({ head, job })))
      .toSorted((a, b) => a.job.fairKey - b.job.fairKey || (a.job.id < b.job.id ? -1 : 1));
  }

  /** Gives each waiting job, in its order, to the best of the providers that `choice` leaves. */
  assign(choice: Choice): void {
    const stuck = new Set<LaneHead>();
    this.#waiting = this.#waiting.filter(({ head, job }) => {
      // What the first of a lane cannot do, none of it can.
      if (stuck.has(head)) return true;
      const candidate = this.#choose(head, choice);
      if (candidate === null) stuck.add(head);
      else this.#take(candidate, { lane: head.lane, job });
      return candidate === null;
    });
  }

  #choose(head: LaneHead, choice: Choice): Candidate | null {
    const all = this.#candidates.get(head) ?? [];
    const asked = choice(head.lane, all).map(this.#withoutTaken);
    return chooseFrom(head.lane, { asked, all });
  }

  readonly #withoutTaken = (candidate: Candidate): Candidate => {
    const taken = this.#taken.get(keyOf(candidate)) ?? 0;
    return { ...candidate, freeSlots: candidate.freeJobSlots - taken };
  };

  #take(candidate: Candidate, planned: Omit<PlannedClaim, 'candidate'>): void {
    const key = keyOf(candidate);
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    this.claims.push({ ...planned, candidate });
  }
}

/** Whoever has failed the job is asked again only where nobody else is online. */
function chooseFrom(
  lane: Lane,
  { asked, all }: { readonly asked: readonly Candidate[]; readonly all: readonly Candidate[] },
): Candidate | null {
  const shunned = [...lane.excluded, ...lane.avoided];
  const preferred = matchWithout(lane, asked, shunned);
  if (preferred.kind === 'chosen') return preferred.candidate;
  if (lane.avoided.length === 0 || isServed(matchWithout(lane, all, shunned))) return null;
  const any = matchWithout(lane, asked, lane.excluded);
  return any.kind === 'chosen' ? any.candidate : null;
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

function keyOf({ providerId, serviceId }: Candidate): string {
  return `${providerId} ${serviceId}`;
}
