import { planClaims } from '@inference-gateway/coordinator/core/jobs/job-plan';
import type { PlannedClaim } from '@inference-gateway/coordinator/core/jobs/job-plan';
import type { Lane, LaneHead } from '@inference-gateway/coordinator/core/jobs/lane';
import { match, NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import type { ShareState } from '@inference-gateway/coordinator/core/access/sharing';
import {
  array,
  assert,
  constantFrom,
  integer,
  option,
  property,
  record,
  subarray,
  tuple,
  uniqueArray,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advertisedModel, makeCandidate } from '../../../support/candidate.js';

const RUNS = 500;
const MEMBERS = ['anna', 'ben', 'cleo'] as const;
const MODELS = ['m', 'n'] as const;
const PROVIDERS = ['p0', 'p1', 'p2'] as const;

/** Mostly true: with rarer values few jobs could be planned. */
const MOSTLY = constantFrom(true, true, true, false);

const heads = uniqueArray(
  record({
    memberId: constantFrom(...MEMBERS),
    model: constantFrom(...MODELS),
    scope: constantFrom('any' as const, 'any' as const, 'own' as const),
    excluded: subarray([...PROVIDERS], { maxLength: 1 }),
    avoided: subarray([...PROVIDERS], { maxLength: 1 }),
    count: integer({ min: 1, max: 4 }),
    firstKey: integer({ min: 1, max: 20 }),
  }),
  { minLength: 3, maxLength: 6, selector: ({ memberId, model }) => `${memberId} ${model}` },
).map((lanes) => lanes.map(toHead));

function toHead(row: Omit<Lane, 'serviceType' | 'needs'> & { count: number; firstKey: number }) {
  const { count, firstKey, ...change } = row;
  const lane: Lane = { serviceType: 'llm', needs: NO_NEEDS, ...change };
  const key = `${lane.memberId} ${lane.model}`;
  const jobs = Array.from({ length: count }, (_, i) => {
    const fairKey = firstKey + i;
    const told = { id: `${key} ${i}`, keyId: 'key', endpoint: 'chat' as const, api: null };
    return { ...told, fairKey, queuedAt: 1, bodyBytes: 1 };
  });
  return { key, lane, jobs } satisfies LaneHead;
}

const shares = array(
  record({
    serviceId: option(constantFrom(...MODELS)),
    members: subarray([...MEMBERS], { minLength: 2 }).map((members) => new Set<string>(members)),
    isOpen: MOSTLY,
    slotsLeft: option(integer({ min: 0, max: 2 })),
  }),
  { minLength: 1, maxLength: 2 },
);

/** One service for each model; both have the shares of their provider. */
const provider = record({
  ownerId: constantFrom(...MEMBERS),
  accepts: constantFrom('all' as const, 'all' as const, 'own' as const),
  shares,
  services: tuple(service(), service()),
});

function service() {
  return record({ freeJobSlots: integer({ min: 0, max: 3 }), foreign: MOSTLY });
}

const candidates = tuple(provider, provider, provider).map((rows) =>
  rows.flatMap(({ shares, services, ...row }, at) =>
    services.map((one, i): Candidate => {
      const providerId = `p${at}`;
      const serviceId = MODELS[i] ?? 'm';
      const model = advertisedModel({ id: serviceId });
      const states = shares.map((share, n): ShareState => {
        return { ...share, id: `${providerId}-s${n}`, model: null, maxTokens: null };
      });
      return makeCandidate({ ...row, ...one, providerId, serviceId, model, shares: states });
    }),
  ),
);

interface Planned {
  readonly heads: readonly LaneHead[];
  readonly candidates: readonly Candidate[];
  readonly claims: readonly PlannedClaim[];
}

function everywhere(check: (planned: Planned) => void): void {
  assert(
    property(heads, candidates, (heads, candidates) => {
      const claims = planClaims(heads, ({ model }) =>
        candidates.filter((one) => one.model.id === model),
      );
      check({ heads, candidates, claims });
    }),
    { numRuns: RUNS },
  );
}

/** Lanes with jobs that were not planned. */
function waiting({ heads, claims }: Planned): readonly Lane[] {
  return heads
    .filter(({ lane, jobs }) => claims.filter((one) => one.lane === lane).length < jobs.length)
    .map(({ lane }) => lane);
}

/** Whether one of these candidates could take another job of the lane. */
function couldRun(lane: Lane, among: readonly Candidate[]): boolean {
  const { memberId, scope, needs, excluded, avoided } = lane;
  const able = among.filter(({ model }) => model.id === lane.model);
  const request = { caller: { memberId, scope }, needs };
  return (
    match(able, { ...request, excluded: new Set([...excluded, ...avoided]) }).kind === 'chosen'
  );
}

function takenOf({ claims }: Planned, { providerId, serviceId }: Candidate): number {
  const isThere = ({ choice }: PlannedClaim): boolean =>
    choice.providerId === providerId && choice.serviceId === serviceId;
  return claims.filter(isThere).length;
}

function usesOf({ claims }: Planned, shareId: string): number {
  return claims.filter(({ choice }) => choice.grant.shareId === shareId).length;
}

describe('whatever is shared with whom', () => {
  test('no job of another’s gets a slot that a job of the owner’s could have', () => {
    let given = 0;
    everywhere((planned) => {
      const foreign = planned.claims.filter(({ choice }) => choice.grant.shareId !== null);
      given += foreign.length;
      for (const { choice } of foreign) {
        const ofOwner = waiting(planned).filter(({ memberId }) => memberId === choice.ownerId);
        const free = { ...choice, freeSlots: 1 };
        expect(ofOwner.filter((lane) => couldRun(lane, [free]))).toEqual([]);
      }
    });
    expect(given).toBeGreaterThan(RUNS / 5);
  });

  test('no share gives more slots than it has', () => {
    let filled = 0;
    everywhere((planned) => {
      for (const { id, slotsLeft } of planned.candidates.flatMap((one) => one.shares)) {
        if (slotsLeft === null) continue;
        const uses = usesOf(planned, id);
        expect(uses).toBeLessThanOrEqual(slotsLeft);
        if (uses > 0 && uses === slotsLeft) filled += 1;
      }
    });
    expect(filled).toBeGreaterThan(RUNS / 5);
  });

  test('no job goes where its caller is not let in', () => {
    everywhere(({ claims }) => {
      for (const { lane, choice } of claims) {
        if (choice.ownerId === lane.memberId) continue;
        const share = choice.shares.find(({ id }) => id === choice.grant.shareId);
        expect([lane.scope, choice.accepts, choice.foreign]).toEqual(['any', 'all', true]);
        expect(share?.isOpen).toBe(true);
        expect(share?.members.has(lane.memberId)).toBe(true);
        expect([null, choice.serviceId]).toContain(share?.serviceId);
      }
    });
  });

  test('no job waits that a share would still let run', () => {
    everywhere((planned) => {
      const left = planned.candidates.map((one) => ({
        ...one,
        freeSlots: one.freeJobSlots - takenOf(planned, one),
        shares: one.shares.map((share) => {
          const { id, slotsLeft } = share;
          return { ...share, slotsLeft: slotsLeft && slotsLeft - usesOf(planned, id) };
        }),
      }));
      expect(waiting(planned).filter((lane) => couldRun(lane, left))).toEqual([]);
    });
  });
});
