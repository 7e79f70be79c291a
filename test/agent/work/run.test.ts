import { LONGEST_RUN_MS, limitOf } from '@inference-gateway/agent/work/run';
import { expect, test } from 'vitest';

test.each([
  ['the deadline that the coordinator gives', 280_000, 280_000],
  ['six hours where it gives none', 0, 6 * 3_600_000],
  ['six hours where it gives days', 23 * 86_400_000, LONGEST_RUN_MS],
])('a run may take %s', (_what, deadlineMs, limitMs) => {
  expect(limitOf(deadlineMs)).toBe(limitMs);
});
