import { expect, test } from 'vitest';
import { endText } from '../../packages/coordinator/web/src/screens/queue/end-text.js';

test.each([
  [null, 'end unknown'],
  [0, 'ends within a minute'],
  [60, 'ends within a minute'],
  [61, 'ends in about 2 min'],
  [3_541, 'ends in about 1 h'],
  [3_601, 'ends in about 2 h'],
  [172_800, 'ends in about 2 d'],
  [172_801, 'ends in about 3 d'],
  [1e9, 'ends in about 11575 d'],
])('an end in %s s is never said to be earlier: %s', (seconds, text) => {
  expect(endText(seconds)).toBe(text);
});
