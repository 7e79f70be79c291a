import {
  MAX_WATTS,
  meteredEnergy,
  sizeOf,
  usageNumbers,
} from '@inference-gateway/coordinator/core/usage/usage-bounds';
import { expect, test } from 'vitest';

const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(500)}` } };
const SOUND = { type: 'input_audio', input_audio: { data: 'A'.repeat(300), format: 'wav' } };

function sizeOfContent(...content: readonly unknown[]) {
  return sizeOf(Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] })));
}

test('pictures and sounds are told from text, whatever the text says', () => {
  const text = { type: 'text', text: 'Write "data:" or "data":"x", and the data of "database".' };
  const { media, mediaBytes } = sizeOfContent(text, IMAGE, SOUND, { data: 1, database: 'x' }, text);
  expect(media).toBe(2);
  expect(mediaBytes).toBe('"data:image/png;base64,'.length + 500 + '"data":"'.length + 300);
});

test('a picture of many megabytes is passed over, and what follows it is seen', () => {
  const url = `data:image/png;base64,${'A'.repeat(4 * 1024 * 1024)}`;
  const { media } = sizeOfContent({ type: 'image_url', image_url: { url } }, SOUND, IMAGE);
  expect(media).toBe(3);
});

test('behind a megabyte of text nothing is searched for', () => {
  const quotes = { type: 'text', text: '"'.repeat(1024 * 1024) };
  expect(sizeOfContent(IMAGE, quotes, SOUND, IMAGE)).toMatchObject({ media: 1 });
  // Nor after thousands of data URLs, each of which needs a search of its own.
  expect(sizeOfContent(...Array.from({ length: 10_000 }, () => 'data:')).media).toBe(4_096);
});

const CALL = {
  promptTokens: 12,
  completionTokens: 34,
  estimated: true,
  energyJ: 310,
  audioMs: 1_500,
  images: 2,
  queueMs: 5,
  firstByteMs: 80,
  totalMs: 900,
};

test('what is metered is what was measured', () => {
  expect(usageNumbers(CALL)).toEqual(CALL);
  expect(usageNumbers({ ...CALL, firstByteMs: null })).toEqual({ ...CALL, firstByteMs: null });
});

test('what is metered are whole numbers, none below 0 and none that spoils a sum', () => {
  const hostile = { ...CALL, promptTokens: 1e300, completionTokens: -5, audioMs: 1e300 };
  expect(usageNumbers({ ...hostile, images: Infinity })).toEqual({
    ...CALL,
    promptTokens: 10_000_000,
    completionTokens: 0,
    audioMs: 30 * 86_400_000,
    images: Number.MAX_SAFE_INTEGER,
  });
  const setBack = usageNumbers({ ...CALL, queueMs: -60_000, firstByteMs: 79.6, totalMs: -1 });
  expect(setBack).toEqual({ ...CALL, queueMs: 0, firstByteMs: 80, totalMs: 0 });
});

/** What it is of, joules as told, ms for which the run was seen, and joules as metered. */
const ENERGY: readonly (readonly [string, number | undefined, number, number | null])[] = [
  ['of an hour at 350 W', 1_260_000, 3_600_000, 1_260_000],
  ['of a moment', 0.017, 1, 0.017],
  ['at the most that cards can take', MAX_WATTS, 1_000, MAX_WATTS],
  ['above that', MAX_WATTS + 1, 1_000, null],
  ['of no time', 1, 0, null],
  ['that is nothing', 0, 1_000, null],
  ['that is negative', -5, 1_000, null],
  ['that has no end', Infinity, 1_000, null],
  ['that is no number', NaN, 1_000, null],
  ['that an older agent does not tell', undefined, 1_000, null],
];

test.each(ENERGY)('energy %s: %d J in %d ms is metered as %s', (_, ...[told, ranMs, metered]) => {
  expect(meteredEnergy(told, ranMs)).toBe(metered);
});
