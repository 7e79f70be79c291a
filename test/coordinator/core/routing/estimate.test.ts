import {
  bestOf,
  expectedMs,
  HALF_LIFE_MS,
} from '@inference-gateway/coordinator/core/routing/estimate';
import type { Paced } from '@inference-gateway/coordinator/core/routing/estimate';
import { UNMEASURED } from '@inference-gateway/coordinator/core/routing/pace';
import type { Pace } from '@inference-gateway/coordinator/core/routing/pace';
import { describe, expect, it, test } from 'vitest';

/** 100 ms to its first byte, 256 tokens in 2.56 s. */
const MEASURED: Pace = { ...UNMEASURED, firstByteMs: 100, tokensPerSecond: 100, measuredAt: 0 };
const BEST = bestOf([{ pace: MEASURED }]);

type Trait = Partial<Omit<Paced, 'model' | 'pace'>> & {
  loaded?: boolean | null;
  pace?: Partial<Pace>;
};

function paced({ loaded = true, pace, ...rest }: Trait = {}): Paced {
  return {
    model: { loaded },
    pace: { ...MEASURED, ...pace },
    paceAgeMs: 0,
    busySlots: 0,
    failureShare: 0,
    ...rest,
  };
}

describe('an average answer is there after', () => {
  it.each<[string, Trait, number]>([
    ['its first byte and its tokens', {}, 2_660],
    ['half the time at twice the speed', { pace: { tokensPerSecond: 200 } }, 1_380],
    ['20 s more, where the model is not loaded', { loaded: false }, 22_660],
    ['what loading took, where that was measured', { loaded: false, pace: { loadMs: 340 } }, 3_000],
    ['no loading, where the server does not tell', { loaded: null, pace: { loadMs: 340 } }, 2_660],
    ['twice as long beside another call', { busySlots: 1 }, 5_320],
    ['but the loading is no longer for it', { busySlots: 1, loaded: false }, 25_320],
    ['twice the time, where every second call fails', { failureShare: 0.5 }, 5_320],
    ['twenty times, where all of them do', { failureShare: 1 }, 53_200],
    ['the seconds of its image', { pace: { secondsPerImage: 4 } }, 4_100],
  ])('%s', (_, trait, expected) => {
    expect(expectedMs(paced(trait), BEST)).toBeCloseTo(expected, 6);
  });
});

describe('who is not measured', () => {
  it('counts as the best that is known', () => {
    const slow = { ...MEASURED, firstByteMs: 50, tokensPerSecond: 10 };
    const best = bestOf([{ pace: MEASURED }, { pace: slow }, { pace: UNMEASURED }]);
    expect(best).toEqual({ firstByteMs: 50, makingMs: 2_560 });
    expect(expectedMs(paced({ pace: UNMEASURED }), best)).toBe(2_610);
  });

  it('counts as all others, where nobody is', () => {
    const best = bestOf([{ pace: UNMEASURED }]);
    const [one, busy] = [paced({ pace: UNMEASURED }), paced({ pace: UNMEASURED, busySlots: 1 })];
    expect(expectedMs(one, best)).toBeLessThan(expectedMs(busy, best));
    expect(expectedMs(one, best)).toBe(expectedMs(paced({ pace: UNMEASURED }), best));
  });
});

test('what was measured long ago fades towards the best that is known', () => {
  const slow = { tokensPerSecond: 10 };
  const at = (paceAgeMs: number) => expectedMs(paced({ pace: slow, paceAgeMs }), BEST);
  expect(at(0)).toBeCloseTo(25_700, 6);
  expect(at(HALF_LIFE_MS)).toBeCloseTo((25_700 + 2_660) / 2, 6);
  expect(at(20 * HALF_LIFE_MS)).toBeCloseTo(2_660, -1);
});
