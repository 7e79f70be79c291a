import { affordableClaims, planClaims } from '@inference-gateway/coordinator/core/jobs/job-plan';
import type { Lane, LaneHead } from '@inference-gateway/coordinator/core/jobs/lane';
import { match, NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  property,
  record,
  subarray,
  tuple,
  uniqueArray,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advertisedModel, makeCandidate } from '../../../support/candidate.js';

function candidate(change: Partial<Candidate> = {}): Candidate {
  const { freeJobSlots = 1 } = change;
  return makeCandidate({ freeSlots: freeJobSlots, freeJobSlots, slots: 4, ...change });
}

function head(change: Partial<Lane>, fairKeys: readonly number[]): LaneHead {
  const lane: Lane = {
    serviceType: 'llm',
    model: 'm',
    memberId: 'anna',
    scope: 'any',
    needs: NO_NEEDS,
    excluded: [],
    avoided: [],
    ...change,
  };
  const key = JSON.stringify(lane);
  const jobs = fairKeys.map((fairKey) => ({
    id: `${lane.memberId}-${lane.model}-${fairKey}`,
    endpoint: 'chat' as const,
    api: null,
    fairKey,
    queuedAt: 1,
    keyId: 'key',
    bodyBytes: 10,
  }));
  return { key, lane, jobs };
}

const ids = (heads: readonly LaneHead[], candidates: readonly Candidate[]): string[] =>
  planClaims(heads, ({ model }) => candidates.filter((one) => one.model.id === model)).map(
    ({ job, choice: { providerId } }) => `${job.id} on ${providerId}`,
  );

function on(model: string, change: Partial<Candidate> = {}): Candidate {
  return candidate({ model: advertisedModel({ id: model }), providerId: model, ...change });
}

/** Of an alias for the models `a` and `b`. */
function chained(change: Partial<Lane> = {}): LaneHead & { models: string[] } {
  return { ...head({ alias: 'fast', ...change }, [1]), models: ['a', 'b'] };
}

const given = (candidates: readonly Candidate[], change: Partial<Lane> = {}): string[] =>
  ids([chained(change)], candidates);

describe('a job under an alias', () => {
  const AWAY = { online: false };

  test.each<[string, Candidate[], string[]]>([
    ['takes the first model', [on('a'), on('b')], ['a']],
    ['takes the next if the first is away', [on('a', AWAY), on('b')], ['b']],
    ['waits for the first if it is only busy', [on('a', { freeJobSlots: 0 }), on('b')], []],
    [
      'takes the first of others before the next of its caller',
      [on('a', { ownerId: 'ben', shares: [share('anna')] }), on('b')],
      ['a'],
    ],
    ['waits if all are away', [on('a', AWAY), on('b', AWAY)], []],
  ])('%s', (_, candidates, providers) => {
    expect(given(candidates)).toEqual(providers.map((one) => `anna-m-1 on ${one}`));
  });

  test('is given to the next model of a machine on which the first has failed', () => {
    const den = [on('a', { providerId: 'den' }), on('b', { providerId: 'den', serviceId: 'b' })];
    const plan = planClaims([chained({ avoided: ['den a'] })], ({ model }) =>
      den.filter((one) => one.model.id === model),
    );
    expect(plan.map(({ choice }) => choice.model.id)).toEqual(['b']);
    expect(given(den, { avoided: ['den a', 'den b'] })).toEqual(['anna-m-1 on den']);
    expect(given(den, { excluded: ['den'] })).toEqual([]);
  });
});

function share(memberId: string) {
  const members = new Set([memberId]);
  const none = { serviceId: null, model: null, slotsLeft: null, maxTokens: null };
  return { id: 'share', ...none, isOpen: true, members };
}

describe('which jobs are given out', () => {
  test('the smallest fair key first, as many as there are slots', () => {
    const heads = [head({}, [3, 5, 7])];
    expect(ids(heads, [candidate({ freeJobSlots: 2 })])).toEqual([
      'anna-m-3 on den',
      'anna-m-5 on den',
    ]);
  });

  test('nothing where no slot is free for jobs, even if one is for calls', () => {
    expect(ids([head({}, [1])], [candidate({ freeJobSlots: 0, freeSlots: 1 })])).toEqual([]);
  });

  test('nothing to a provider that failed, and one job where it is to be tried again', () => {
    const broken = candidate({ health: 'open', freeJobSlots: 4 });
    expect(ids([head({}, [1, 2])], [broken])).toEqual([]);
    const probed = candidate({ health: 'probe', freeJobSlots: 4 });
    expect(ids([head({}, [1, 2])], [probed])).toEqual(['anna-m-1 on den']);
  });

  test('to the card that has less to do, also within one plan', () => {
    const four = { freeJobSlots: 4 };
    const both = [candidate(four), candidate({ ...four, providerId: 'attic' })];
    expect(ids([head({}, [1, 2, 3, 4])], both).map((one) => one.split(' on ')[1])).toEqual([
      'den',
      'attic',
      'den',
      'attic',
    ]);
  });

  test('a lane that nobody serves hides no other', () => {
    const heads = [head({ model: 'gone' }, [1, 2]), head({}, [9])];
    expect(ids(heads, [candidate()])).toEqual(['anna-m-9 on den']);
  });

  test('a provider that gave the job back is not asked', () => {
    const heads = [head({ excluded: ['den'] }, [1])];
    expect(ids(heads, [candidate()])).toEqual([]);
    expect(ids(heads, [candidate(), candidate({ providerId: 'attic' })])).toEqual([
      'anna-m-1 on attic',
    ]);
  });

  test('a provider that failed the job is asked again only where no other is online', () => {
    const heads = [head({ avoided: ['den'] }, [1])];
    const attic = (change: Partial<Candidate>) => candidate({ providerId: 'attic', ...change });
    expect(ids(heads, [candidate()])).toEqual(['anna-m-1 on den']);
    expect(ids(heads, [candidate(), attic({})])).toEqual(['anna-m-1 on attic']);
    expect(ids(heads, [candidate(), attic({ freeJobSlots: 0 })])).toEqual([]);
    expect(ids(heads, [candidate(), attic({ online: false, linkId: null })])).toEqual([
      'anna-m-1 on den',
    ]);
  });

  test("a job that may run on its caller's own machines only is not seen by others", () => {
    expect(ids([head({ memberId: 'ben', scope: 'own' }, [1])], [candidate()])).toEqual([]);
  });
});

describe('which of them there is memory for', () => {
  const plan = planClaims([head({}, [1, 2, 3])], () => [candidate({ freeJobSlots: 3 })]);

  test.each([
    ['all', 0, 30, 3],
    ['those that fit beside what is held', 5, 30, 2],
    ['none where the first does not fit', 25, 30, 0],
    ['one at least where nothing is held', 0, 1, 1],
  ])('%s', (...row) => {
    const [, heldBytes, maxBytes, expected] = row;
    expect(affordableClaims(plan, heldBytes, maxBytes)).toEqual(plan.slice(0, expected));
    expect(plan).toHaveLength(3);
  });
});

const laneArbitrary = record({
  memberId: constantFrom('anna', 'ben', 'cleo'),
  model: constantFrom('m', 'n'),
  scope: constantFrom('own' as const, 'any' as const),
  excluded: subarray(['p0', 'p1', 'p2']),
  avoided: subarray(['p0', 'p1', 'p2']),
});

const headsArbitrary = uniqueArray(laneArbitrary, {
  maxLength: 6,
  selector: (lane) => JSON.stringify(lane),
}).chain((lanes) =>
  tuple(
    ...lanes.map((lane) =>
      uniqueArray(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }).map((keys) =>
        head(
          lane,
          keys.toSorted((a, b) => a - b),
        ),
      ),
    ),
  ),
);

const candidatesArbitrary = array(
  record({
    provider: integer({ min: 0, max: 2 }),
    model: constantFrom('m', 'n'),
    ownerId: constantFrom('anna', 'ben', 'cleo'),
    online: boolean(),
    draining: boolean(),
    accepts: constantFrom('all' as const, 'own' as const, 'none' as const),
    freeJobSlots: integer({ min: 0, max: 3 }),
  }).map(({ provider, model, ...rest }) =>
    candidate({
      ...rest,
      providerId: `p${provider}`,
      serviceId: model,
      model: advertisedModel({ id: model }),
      linkId: rest.online ? 'link' : null,
    }),
  ),
  { maxLength: 6 },
);

/** One row for each provider and service, as in the registry. */
function distinct(candidates: readonly Candidate[]): Candidate[] {
  const rows = new Map(candidates.map((one) => [`${one.providerId} ${one.serviceId}`, one]));
  return [...rows.values()];
}

function everywhere(check: (heads: LaneHead[], candidates: Candidate[]) => void): void {
  assert(
    property(headsArbitrary, candidatesArbitrary, (heads, candidates) =>
      check([...heads], distinct(candidates)),
    ),
    { numRuns: 500 },
  );
}
function plan(heads: readonly LaneHead[], candidates: readonly Candidate[]) {
  return planClaims(heads, ({ model }) => candidates.filter((one) => one.model.id === model));
}

describe('any queue and any providers online', () => {
  test('no job is given out twice, and no service gets more than it has slots', () => {
    everywhere((heads, candidates) => {
      const claims = plan(heads, candidates);
      const jobs = claims.map(({ job, lane }) => `${JSON.stringify(lane)} ${job.id}`);
      expect(new Set(jobs).size).toBe(jobs.length);
      for (const one of candidates) {
        const taken = claims.filter(
          ({ choice: { providerId, serviceId } }) =>
            providerId === one.providerId && serviceId === one.serviceId,
        );
        expect(taken.length).toBeLessThanOrEqual(one.freeJobSlots);
      }
    });
  });

  test('every claim is one that the matcher allows', () => {
    everywhere((heads, candidates) => {
      for (const { lane, choice: chosen } of plan(heads, candidates)) {
        const { memberId, scope, needs, excluded } = lane;
        const request = { caller: { memberId, scope }, needs, excluded: new Set(excluded) };
        expect(match([chosen], request).kind).toBe('chosen');
        expect(chosen.model.id).toBe(lane.model);
      }
    });
  });

  test('no job waits that somebody could still run', () => {
    everywhere((heads, candidates) => {
      const claims = plan(heads, candidates);
      const left = candidates.map((one) => {
        const taken = claims.filter(
          ({ choice: { providerId, serviceId } }) =>
            providerId === one.providerId && serviceId === one.serviceId,
        ).length;
        return { ...one, freeSlots: one.freeJobSlots - taken };
      });
      for (const { lane, jobs } of heads) {
        const given = claims.filter((claim) => claim.lane === lane).length;
        if (given === jobs.length) continue;
        const { memberId, scope, needs, excluded, avoided } = lane;
        const able = left.filter((one) => one.model.id === lane.model);
        const shunned = new Set([...excluded, ...avoided]);
        const request = { caller: { memberId, scope }, needs, excluded: shunned };
        expect(match(able, request).kind).not.toBe('chosen');
      }
    });
  });

  test('within a lane, jobs are given out in the order of their keys', () => {
    everywhere((heads, candidates) => {
      const claims = plan(heads, candidates);
      for (const { lane, jobs } of heads) {
        const given = claims.filter((claim) => claim.lane === lane).map(({ job }) => job.fairKey);
        const expected = jobs.slice(0, given.length).map(({ fairKey }) => fairKey);
        expect(given.toSorted((a, b) => a - b)).toEqual(expected);
      }
    });
  });
});

test('the providers of a model are asked for once, however many members wait for it', () => {
  const members = ['anna', 'ben', 'cleo'];
  const heads = ['m', 'other'].flatMap((model) =>
    members.map((memberId) => head({ memberId, model }, [1])),
  );
  const asked: string[] = [];
  planClaims(heads, ({ model }) => {
    asked.push(model);
    return [candidate({ model: advertisedModel({ id: model }) })];
  });
  expect(asked).toEqual(['m', 'other']);
});

test('no more are planned than are asked for, and own jobs are the first of them', () => {
  const heads = [head({ memberId: 'ben' }, [1, 2]), head({}, [3, 4])];
  const everybody = new Set(['ben']);
  const share = { id: 's', serviceId: null, model: null, members: everybody, isOpen: true };
  const shares = [{ ...share, slotsLeft: null, maxTokens: null }];
  const all = [candidate({ shares, freeJobSlots: 4 })];
  const planned = (most: number) => planClaims(heads, () => all, most).map(({ job }) => job.id);
  expect(planned(3)).toEqual(['anna-m-3', 'anna-m-4', 'ben-m-1']);
  expect(planned(1)).toEqual(['anna-m-3']);
});
