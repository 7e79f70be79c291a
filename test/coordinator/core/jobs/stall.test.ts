import { isStalled } from '@inference-gateway/coordinator/core/jobs/waiting-reason';
import { expect, test } from 'vitest';

const NOW = 1_760_000_000_000;

test.each([
  { queued: 1, lastTickAt: NOW - 60_001, stalled: true },
  { queued: 1, lastTickAt: NOW - 60_000, stalled: false },
  { queued: 10_000, lastTickAt: NOW, stalled: false },
  { queued: 0, lastTickAt: NOW - 3_600_000, stalled: false },
  // No dispatcher has ever ticked.
  { queued: 1, lastTickAt: null, stalled: true },
  { queued: 0, lastTickAt: null, stalled: false },
])('$queued queued and the last tick at $lastTickAt: $stalled', (row) => {
  expect(isStalled(row.queued, row.lastTickAt, NOW)).toBe(row.stalled);
});
