import { crowding, learn, UNMEASURED } from '@inference-gateway/coordinator/core/routing/pace';
import type { Pace, Run } from '@inference-gateway/coordinator/core/routing/pace';
import { describe, expect, it, test } from 'vitest';

const RUN: Run = {
  wasLoaded: true,
  otherCalls: 0,
  streamed: true,
  firstByteMs: 200,
  totalMs: 2_200,
  tokens: 100,
  images: 0,
};

function learned(run: Partial<Run>, before: Partial<Pace> = {}): Pace {
  return learn({ ...UNMEASURED, ...before }, { ...RUN, ...run }, 7);
}

describe('one call tells', () => {
  it.each<[string, Partial<Run>, Partial<Pace>]>([
    ['of a stream, its first byte and its speed', {}, { firstByteMs: 200, tokensPerSecond: 50 }],
    ['of every answer, how long the whole call took', { tokens: 0 }, { callMs: 2_200 }],
    [
      'of an answer that comes whole, its speed alone',
      { streamed: false, firstByteMs: 2_000, totalMs: 2_000 },
      { firstByteMs: null, tokensPerSecond: 50 },
    ],
    [
      'of images, the seconds that one takes',
      { streamed: false, tokens: 0, images: 4, firstByteMs: 7_900, totalMs: 8_000 },
      { firstByteMs: null, secondsPerImage: 2, tokensPerSecond: null },
    ],
    [
      'of speech, when it begins',
      { streamed: false, tokens: 0, firstByteMs: 900, totalMs: 1_000 },
      { firstByteMs: 900, tokensPerSecond: null },
    ],
    ['of a word or two, no speed', { tokens: 7 }, { tokensPerSecond: null, firstByteMs: 200 }],
    [
      'where the server does not tell what is loaded, the same as of a warm one',
      { wasLoaded: null },
      { firstByteMs: 200, loadMs: null },
    ],
    [
      'of a cold model, how long it loads, and nothing else',
      { wasLoaded: false, firstByteMs: 9_000, totalMs: 11_000 },
      { loadMs: 9_000, firstByteMs: null, tokensPerSecond: null, callMs: null },
    ],
    [
      'what it took is what it would have taken on a free card',
      { otherCalls: 2, firstByteMs: 600, totalMs: 6_600 },
      { firstByteMs: 200, tokensPerSecond: 50, callMs: 2_200 },
    ],
  ])('%s', (_, run, expected) => {
    expect(learned(run)).toMatchObject({ measuredAt: 7, ...expected });
  });
});

test('the newest call weighs a fifth', () => {
  const before = { tokensPerSecond: 100, firstByteMs: 100 };
  expect(learned({}, before)).toMatchObject({ tokensPerSecond: 90, firstByteMs: 120 });
});

test.each<[string, Partial<Run>, Partial<Pace>, number]>([
  ['a stream', { firstByteMs: 9_000, totalMs: 11_000 }, { firstByteMs: 500 }, 8_500],
  [
    'a whole answer',
    { streamed: false, firstByteMs: 12_000, totalMs: 12_000 },
    { tokensPerSecond: 50 },
    10_000,
  ],
  [
    'images',
    { streamed: false, tokens: 0, images: 2, firstByteMs: 12_000, totalMs: 12_000 },
    { secondsPerImage: 3 },
    6_000,
  ],
  ['a model that was loaded after all', { firstByteMs: 100 }, { firstByteMs: 500 }, 0],
])('loading is what the first byte came later than it would: %s', (...row) => {
  const [, run, before, loadMs] = row;
  expect(learned({ wasLoaded: false, ...run }, before)).toMatchObject({ ...before, loadMs });
});

describe('nonsense is no measure', () => {
  it.each<[string, Partial<Run>]>([
    ['a negative time', { firstByteMs: -1 }],
    ['no number', { totalMs: Number.NaN }],
    ['an endless time', { totalMs: Number.POSITIVE_INFINITY }],
    ['an end before its first byte', { firstByteMs: 300, totalMs: 200 }],
    ['fewer than no tokens', { tokens: -5 }],
  ])('%s', (_, run) => {
    expect(learned(run)).toEqual(UNMEASURED);
  });

  it.each<[string, Partial<Run>]>([
    ['no tokens', { tokens: 0 }],
    ['more than a million tokens a second', { tokens: 2_000_001, totalMs: 2_200 }],
    ['tokens in no time', { totalMs: 200 }],
  ])('%s: the speed stays as it was', (_, run) => {
    expect(learned(run, { tokensPerSecond: 40 }).tokensPerSecond).toBe(40);
  });
});

test('calls on one card take turns', () => {
  expect([0, 1, 2].map(crowding)).toEqual([1, 2, 3]);
});
