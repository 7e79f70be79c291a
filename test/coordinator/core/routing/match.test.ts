import {
  fittingModels,
  match,
  matchBesideSlots,
  NO_NEEDS,
  servingModels,
} from '@inference-gateway/coordinator/core/routing/match';
import type { Candidate, Needs } from '@inference-gateway/coordinator/core/routing/match';
import { UNMEASURED } from '@inference-gateway/coordinator/core/routing/pace';
import type { Pace } from '@inference-gateway/coordinator/core/routing/pace';
import { describe, expect, it } from 'vitest';
import { advertisedModel, makeCandidate } from '../../../support/candidate.js';

const ANNA = 'member-anna';
const BEN = 'member-ben';
const limits = { requests: null, concurrent: null };

type Trait = Partial<Candidate> & { loaded?: boolean | null };

function candidate(providerId: string, trait: Trait = {}): Candidate {
  const { loaded = true, ...rest } = trait;
  const linkId = rest.online === false ? null : `link of ${providerId}`;
  const model = advertisedModel({ loaded });
  const named = { providerId, providerName: providerId, ownerId: ANNA };
  return makeCandidate({ ...named, linkId, model, ...rest });
}

/** A share with Anna, without limits. */
const OPEN_SHARE = {
  id: 's',
  serviceId: null,
  model: null,
  members: new Set([ANNA]),
  isOpen: true,
  slotsLeft: null,
  maxTokens: null,
};
const OF_BEN: Trait = { ownerId: BEN, shares: [OPEN_SHARE] };

const CALLER = { memberId: ANNA, memberName: 'Anna', keyId: 'k', scope: 'any' as const, limits };

function choose(candidates: Candidate[], excluded: string[] = []) {
  return match(candidates, { caller: CALLER, needs: NO_NEEDS, excluded: new Set(excluded) });
}

function chosenFor(needs: Partial<Needs>, candidates: Candidate[]): string {
  const request = { caller: CALLER, needs: { ...NO_NEEDS, ...needs }, excluded: new Set<string>() };
  const found = match(candidates, request);
  return found.kind === 'chosen' ? found.choice.providerId : found.kind;
}

/** A candidate whose model has additional fields. */
function speaking(providerId: string, told: Partial<Candidate['model']>, trait: Trait = {}) {
  const plain = candidate(providerId, trait);
  return { ...plain, model: { ...plain.model, ...told } };
}

function chosen(candidates: Candidate[], excluded: string[] = []): string {
  const found = choose(candidates, excluded);
  return found.kind === 'chosen' ? found.choice.providerId : found.kind;
}

describe('the matcher says', () => {
  it('unknown, where nobody has the model', () => {
    expect(choose([])).toEqual({ kind: 'unknown' });
  });

  it("unknown, where only somebody else's provider has it: the two look the same", () => {
    expect(choose([candidate('a', { ownerId: BEN })])).toEqual({ kind: 'unknown' });
  });

  it('offline, with the time of the last loss, where nobody is there', () => {
    const gone = [
      candidate('a', { online: false, offlineSince: 10 }),
      candidate('b', { online: false, offlineSince: 20 }),
      candidate('c', { online: false }),
    ];
    expect(choose(gone)).toEqual({ kind: 'offline', lostAt: 20 });
  });

  it('offline without a time, where nobody was there since the start', () => {
    expect(choose([candidate('a', { online: false })])).toEqual({ kind: 'offline', lostAt: null });
  });

  it('busy, where somebody serves it and every slot is taken', () => {
    const taken = [candidate('a', { freeSlots: 0 }), candidate('b', { online: false })];
    expect(choose(taken)).toEqual({ kind: 'busy' });
  });
});

describe('no work goes to a provider that', () => {
  it.each<[string, Trait]>([
    ['is offline', { online: false }],
    ['is drained by the admin', { draining: true }],
    ['lets in no work', { accepts: 'none' }],
  ])('%s', (_, trait) => {
    expect(chosen([candidate('a', trait)])).toBe('offline');
    expect(chosen([candidate('a', trait), candidate('b', { loaded: false })])).toBe('b');
  });

  it('has failed this call already', () => {
    expect(chosen([candidate('a'), candidate('b', { loaded: false })], ['a'])).toBe('b');
    expect(chosen([candidate('a')], ['a'])).toBe('offline');
  });
});

it('a paused provider still serves its owner, and nobody with whom it is shared', () => {
  expect(chosen([candidate('a', { accepts: 'own' })])).toBe('a');
  expect(chosen([candidate('b', OF_BEN)])).toBe('b');
  expect(chosen([candidate('b', { ...OF_BEN, accepts: 'own' })])).toBe('offline');
});

function paced(tokensPerSecond: number): Pace {
  return { ...UNMEASURED, tokensPerSecond, firstByteMs: 100, measuredAt: 0 };
}

const BURDENED: Trait = { pace: paced(40), busySlots: 4 };

describe('of several providers the call goes to', () => {
  it.each<[string, Trait, Trait]>([
    ['the one that has the model loaded', { loaded: true }, { loaded: false, freeSlots: 9 }],
    ['one that does not tell, over one that must load', { loaded: null }, { loaded: false }],
    ['the one with more free slots', { freeSlots: 3 }, { freeSlots: 2 }],
    [
      'the one whose card has less to do, however many slots the other has',
      { busySlots: 1, freeSlots: 1 },
      { busySlots: 2, freeSlots: 9 },
    ],
    [
      'the one that works, not the one that fails fast and looks idle',
      { freeSlots: 1, pace: paced(40) },
      { freeSlots: 4, failureShare: 0.45, pace: paced(40) },
    ],
    ['the faster one', { pace: paced(40) }, { pace: paced(20), freeSlots: 9 }],
    ['the faster one, though it does more', { pace: paced(50), busySlots: 1 }, { pace: paced(20) }],
    ['the slower one, where the faster has too much to do', { pace: paced(20) }, BURDENED],
    ['one that was not measured yet', { pace: UNMEASURED }, { pace: paced(50), freeSlots: 9 }],
    [
      'the fast one that must load, where that is known to be quick',
      { loaded: false, pace: { ...paced(40), loadMs: 500 } },
      { pace: paced(10) },
    ],
    ['one that is due for a probe', { health: 'probe', pace: paced(1) }, { pace: paced(40) }],
  ])('%s', (_, better, worse) => {
    const [good, bad] = [candidate('good', better), candidate('bad', worse)];
    expect(chosen([good, bad])).toBe('good');
    expect(chosen([bad, good])).toBe('good');
  });
});

describe('a provider whose breaker is open', () => {
  const broken = candidate('broken', { health: 'open', nextProbeMs: 9_000, freeSlots: 9 });

  it('is given nothing, even where the others are busy', () => {
    expect(chosen([broken, candidate('slow', { pace: paced(1) })])).toBe('slow');
    expect(chosen([broken, candidate('busy', { freeSlots: 0 })])).toBe('busy');
  });

  it('leaves the call nobody, and the match says when the first of them is tried again', () => {
    const later = candidate('later', { health: 'open', nextProbeMs: 20_000 });
    const gone = candidate('gone', { online: false });
    expect(choose([later, broken, gone])).toEqual({ kind: 'broken', retryInMs: 9_000 });
  });

  it('is closed to the one alone whose calls failed', () => {
    expect(choose([{ ...broken, openFor: ANNA }]).kind).toBe('broken');
    const found = choose([{ ...broken, openFor: BEN }]);
    expect(found).toMatchObject({ kind: 'chosen', choice: { health: 'closed', nextProbeMs: 0 } });
  });

  it('does not show through to who may not use it', () => {
    expect(choose([{ ...broken, ownerId: BEN }])).toEqual({ kind: 'unknown' });
    expect(chosen([broken], ['broken'])).toBe('offline');
  });

  it('still counts among the models that are there', () => {
    expect(servingModels([broken], CALLER)).toEqual([broken.model]);
  });

  it('is probed after own machines, where it is not an own one', () => {
    const probe = candidate('probe', { health: 'probe', ...OF_BEN });
    expect(chosen([probe, candidate('own', { pace: paced(1) })])).toBe('own');
    expect(chosen([probe, candidate('own', { freeSlots: 0 })])).toBe('probe');
  });
});

function preferring(candidates: Candidate[], preferred: () => string | null = () => 'cached') {
  const request = { caller: CALLER, needs: NO_NEEDS, excluded: new Set<string>(), preferred };
  const found = match(candidates, request);
  return found.kind === 'chosen' ? found.choice.providerId : found.kind;
}

const cached = (trait: Trait = {}) => candidate('cached', { pace: paced(10), ...trait });
const fast = (trait: Trait = {}) => candidate('fast', { pace: paced(40), ...trait });

function askNobody(): never {
  throw new Error('nobody needs to know');
}

describe('the provider that has the conversation in its cache', () => {
  it.each<[string, Candidate[], string]>([
    ['comes before a faster one', [fast(), cached()], 'cached'],
    ['is not waited for', [fast(), cached({ freeSlots: 0 })], 'fast'],
    [
      'has no cache any more where the model is unloaded',
      [fast(), cached({ loaded: false })],
      'fast',
    ],
    ['is no reason to leave own machines', [fast(), cached(OF_BEN)], 'fast'],
    ['waits for a probe', [fast({ health: 'probe' }), cached()], 'fast'],
    ['is left alone while its breaker is open', [fast(), cached({ health: 'open' })], 'fast'],
    ['may be gone', [fast(), cached({ online: false })], 'fast'],
  ])('%s', (_, candidates, expected) => {
    expect(preferring(candidates)).toBe(expected);
    expect(preferring(candidates.toReversed())).toBe(expected);
  });

  it('is looked for only where there is a choice', () => {
    expect(preferring([fast(), cached({ online: false })], askNobody)).toBe('fast');
  });
});

it('the choice leaves the snapshot as it was', () => {
  const candidates = Object.freeze([candidate('b', { freeSlots: 1 }), candidate('a')]);
  const caller = { memberId: ANNA, memberName: 'Anna', keyId: 'k', scope: 'own' as const, limits };
  match(candidates, { caller, needs: NO_NEEDS, excluded: new Set() });
  expect(candidates.map((one) => one.providerId)).toEqual(['b', 'a']);
});

describe('what a call needs', () => {
  const timed = speaking('timed', { supported_features: ['timestamps'] }, { freeSlots: 1 });
  const plain = candidate('plain', { freeSlots: 9 });

  it('features are required, however free others are', () => {
    expect(chosenFor({ features: ['timestamps'] }, [plain, timed])).toBe('timed');
    expect(chosenFor({ features: ['voice-cloning'] }, [plain, timed])).toBe('unknown');
  });

  it('a voice is required', () => {
    const sky = speaking('sky', { voices: ['af_sky'] });
    expect(chosenFor({ voices: ['af_sky'] }, [plain, sky])).toBe('sky');
    expect(chosenFor({ voices: ['af_sky', 'zeus'] }, [plain, sky])).toBe('unknown');
  });

  it('a provider that may not handle the format comes last, but it comes', () => {
    const wavOnly = speaking('wav-only', { formats: ['wav'] }, { freeSlots: 9 });
    expect(chosenFor({ format: 'wav' }, [candidate('any'), wavOnly])).toBe('wav-only');
    expect(chosenFor({ format: 'opus' }, [wavOnly, candidate('any')])).toBe('any');
    expect(chosenFor({ format: 'opus' }, [wavOnly])).toBe('wav-only');
  });
});

it('the models that could serve now are those of visible providers that are online', () => {
  const candidates = [
    candidate('here'),
    candidate('busy', { freeSlots: 0 }),
    candidate('gone', { online: false }),
    candidate('draining', { draining: true }),
    candidate('closed', { accepts: 'none' }),
    candidate('of-ben', { ownerId: BEN }),
  ];
  const serving = servingModels(candidates, CALLER);
  expect(serving).toEqual([candidates[0]?.model, candidates[1]?.model]);
});

it('a call is fitted to models that may be back in a moment, where none is there', () => {
  const gone = speaking('gone', { voices: ['ann'] }, { online: false });
  const here = candidate('here');
  expect(fittingModels([gone], CALLER)).toEqual([gone.model]);
  expect(fittingModels([gone, here], CALLER)).toEqual([here.model]);
  expect(fittingModels([candidate('of-ben', { ownerId: BEN })], CALLER)).toEqual([]);
});

describe('a question that takes no slot', () => {
  const FEATURE = 'token-counting';

  function asked(candidates: Candidate[], excluded: string[] = []): string | null {
    const needs = { ...NO_NEEDS, features: [FEATURE] };
    const request = { caller: CALLER, needs, excluded: new Set(excluded) };
    return matchBesideSlots(candidates, request)?.providerId ?? null;
  }

  const able = (providerId: string, trait: Trait = {}) =>
    speaking(providerId, { supported_features: [FEATURE] }, trait);

  it('goes to a provider without a free slot, the own one first', () => {
    const theirs = able('b', OF_BEN);
    expect(asked([theirs, able('a', { freeSlots: 0 })])).toBe('a');
    expect(asked([theirs, able('a')], ['a'])).toBe('b');
    const full = { ...OPEN_SHARE, slotsLeft: 0 };
    expect(asked([able('b', { ...OF_BEN, shares: [full] })])).toBe('b');
  });

  it.each<[string, Candidate]>([
    ['that does not answer such', candidate('a')],
    ['that is offline', able('a', { online: false })],
    ['that drains', able('a', { draining: true })],
    ['that accepts no work', able('a', { accepts: 'none' })],
    ['that fails again and again', able('a', { health: 'open', nextProbeMs: 9 })],
    ['that is due for a probe', able('a', { health: 'probe' })],
    ['whose model would have to be loaded', able('a', { loaded: false })],
    ['of somebody else', able('a', { ownerId: BEN })],
    [
      'whose share is closed now',
      able('a', { ...OF_BEN, shares: [{ ...OPEN_SHARE, isOpen: false }] }),
    ],
  ])('goes to no provider %s', (_what, one) => {
    expect(asked([one])).toBe(null);
  });
});
