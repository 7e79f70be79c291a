import { leftText, pastText } from '@inference-gateway/shared/time-text';
import { expect, test } from 'vitest';
import { toldText } from '../../packages/coordinator/web/src/ui/text/labels.js';
import {
  formatAgo,
  formatEnergy,
  formatSpeed,
  plural,
} from '../../packages/coordinator/web/src/ui/text/format.js';

test.each([
  [0.25, '0.3 tokens/s'],
  [8.42, '8.4 tokens/s'],
  [19.96, '20.0 tokens/s'],
  [20.4, '20 tokens/s'],
  [1_234.5, '1,235 tokens/s'],
])('a speed of %d reads %s', (tokensPerSecond, text) => {
  expect(formatSpeed(tokensPerSecond)).toBe(text);
});

test.each([
  [0.0174, '0.017 J'],
  [12, '12 J'],
  [35.9, '36 J'],
  [36, '0.01 Wh (36 J)'],
  [4_300, '1.2 Wh (4,300 J)'],
  [9_720_000, '2,700 Wh (9,700,000 J)'],
])('energy of %d J reads %s', (joules, text) => {
  expect(formatEnergy(joules)).toBe(text);
});

test.each([
  [-3_000, 'now'],
  [-59_000, '59 s ago'],
  [-119_000, '1 min ago'],
  [-90 * 60_000, '1 h ago'],
  [-47 * 3_600_000, '1 d ago'],
  [59_100, 'in 1 min'],
  [61_000, 'in 2 min'],
  [59.5 * 60_000, 'in 1 h'],
  [25 * 3_600_000, 'in 2 d'],
])('%d ms from now reads %s: what is to come is rounded up', (ms, text) => {
  expect(formatAgo(1_000_000_000 + ms, 1_000_000_000)).toBe(text);
});

test('one is one, and many have commas', () => {
  expect([0, 1, 4_096].map((count) => plural(count, 'token'))).toEqual([
    '0 tokens',
    '1 token',
    '4,096 tokens',
  ]);
});

const NOW = Date.parse('2026-01-02T03:04:05.000Z');

test.each([
  [
    "No provider that serves the model 'a' as llm has been online since 2026-01-02T02:59:06.000Z.",
    "No provider that serves the model 'a' as Chat has been online for 4 min.",
  ],
  [
    "No provider that you may use serves a model of the alias 'a' as stt: it never did.",
    "No provider that you may use serves a model of the alias 'a' as Transcription: it never did.",
  ],
  ['No tts model is online for you now.', 'No Speech model is online for you now.'],
  [
    'It is tried again at 2026-01-02T03:04:13.100Z, after attempt 1 of 3.',
    'It is tried again in 9 s, after attempt 1 of 3.',
  ],
  ['It was tried at 2026-01-02T03:04:00.000Z.', 'It was tried 5 s ago.'],
  ["The model 'llm' is an image of 'as llm'.", "The model 'llm' is an image of 'as llm'."],
])('%s reads %s', (told, shown) => {
  expect(toldText(told, NOW)).toBe(shown);
});

test('other times in a sentence are those of the reader, rounded up, with their day', () => {
  const at = Date.parse('2026-01-02T03:04:06.000Z');
  expect(toldText(`Until ${new Date(at).toISOString()}.`, NOW)).toMatch(/^Until \d{1,2}:05.*\.$/);
  expect(toldText('Until 2020-05-14T10:30:00.000Z, and more.', NOW)).toMatch(
    /^Until .*14.*, and more\.$/,
  );
});

test.each([
  [0, '0 s', '0 s'],
  [1_001, '1 s', '2 s'],
  [59_999, '59 s', '1 min'],
  [90 * 60_000, '1 h', '2 h'],
  [47 * 3_600_000, '1 d', '2 d'],
])('%d ms are %s when they have passed, and %s when they are left', (ms, past, left) => {
  expect([pastText(ms), leftText(ms)]).toEqual([past, left]);
});
