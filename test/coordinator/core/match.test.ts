import {
  fittingModels,
  match,
  NO_NEEDS,
  servingModels,
} from '@inference-gateway/coordinator/core/match';
import type { Candidate, Needs } from '@inference-gateway/coordinator/core/match';
import { describe, expect, it } from 'vitest';

const ANNA = 'member-anna';
const BEN = 'member-ben';
const limits = { requests: null, concurrent: null };

type Trait = Partial<Candidate> & { loaded?: boolean | null };

function candidate(providerId: string, trait: Trait = {}): Candidate {
  const { loaded = true, ...rest } = trait;
  return {
    providerId,
    providerName: providerId,
    ownerId: ANNA,
    serviceId: 'llm-1',
    model: {
      id: 'm',
      served_name: 'm',
      context_length: null,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supported_features: [],
      loaded,
    },
    online: true,
    sessionId: rest.online === false ? null : `session of ${providerId}`,
    lastSeenAt: null,
    offlineSince: null,
    draining: false,
    accepts: 'all',
    freeSlots: 1,
    freeJobSlots: rest.freeSlots ?? 1,
    slots: rest.freeSlots ?? 1,
    recentFailures: 0,
    speed: null,
    ...rest,
  };
}

const CALLER = { memberId: ANNA, memberName: 'Anna', keyId: 'k', scope: 'any' as const, limits };

function choose(candidates: Candidate[], excluded: string[] = []) {
  return match(candidates, { caller: CALLER, needs: NO_NEEDS, excluded: new Set(excluded) });
}

function chosenFor(needs: Partial<Needs>, candidates: Candidate[]): string {
  const request = { caller: CALLER, needs: { ...NO_NEEDS, ...needs }, excluded: new Set<string>() };
  const found = match(candidates, request);
  return found.kind === 'chosen' ? found.candidate.providerId : found.kind;
}

/** A candidate whose model says more of itself. */
function speaking(providerId: string, told: Partial<Candidate['model']>, trait: Trait = {}) {
  const plain = candidate(providerId, trait);
  return { ...plain, model: { ...plain.model, ...told } };
}

function chosen(candidates: Candidate[], excluded: string[] = []): string {
  const found = choose(candidates, excluded);
  return found.kind === 'chosen' ? found.candidate.providerId : found.kind;
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

it('a paused provider still serves its owner', () => {
  expect(chosen([candidate('a', { accepts: 'own' })])).toBe('a');
});

describe('of several providers the call goes to', () => {
  it.each<[string, Trait, Trait]>([
    ['the one that has the model loaded', { loaded: true }, { loaded: false, freeSlots: 9 }],
    ['one that says so, over one that does not tell', { loaded: true }, { loaded: null }],
    ['the one with more free slots', { freeSlots: 3 }, { freeSlots: 2 }],
    [
      'the one that works, not the one that fails fast and looks idle',
      { freeSlots: 1 },
      { freeSlots: 4, recentFailures: 5 },
    ],
    ['the faster one, where all else is equal', { speed: 40 }, { speed: 20 }],
    ['a measured one over an unmeasured one', { speed: 1 }, { speed: null }],
  ])('%s', (_, better, worse) => {
    const [good, bad] = [candidate('good', better), candidate('bad', worse)];
    expect(chosen([good, bad])).toBe('good');
    expect(chosen([bad, good])).toBe('good');
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
