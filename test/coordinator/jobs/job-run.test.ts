import { ApiError } from '@inference-gateway/shared/errors';
import { REJECT_REASONS, RESET_CODES } from '@inference-gateway/shared/protocol/messages';
import { judgeRun, reportRun } from '@inference-gateway/coordinator/jobs/job-run';
import type { AttemptFailure } from '@inference-gateway/coordinator/run/failure';
import { expect, test } from 'vitest';

function verdict(failure: AttemptFailure): string {
  const told = judgeRun(failure, 'den-pc');
  if (told.kind === 'leave') return 'leave';
  if (told.kind === 'fail') return told.retryable ? 'tried again' : 'failed for good';
  return told.counts ? 'given back, counted' : 'given back';
}

test.each([
  [400, 'failed for good'],
  [401, 'tried again'],
  [404, 'tried again'],
  [408, 'tried again'],
  [413, 'failed for good'],
  [422, 'failed for good'],
  [425, 'tried again'],
  [429, 'tried again'],
  [500, 'tried again'],
  [503, 'tried again'],
])("a local server's %i means: %s", (status, expected) => {
  expect(verdict({ kind: 'status', status, body: '' })).toBe(expected);
});

test.each(RESET_CODES.map((code) => [code] as const))(
  'a run that the agent ends with %s is tried again, and one that it yields is given back',
  (code) => {
    const expected = code === 'YIELDED' ? 'given back' : 'tried again';
    expect(verdict({ kind: 'reset', code, message: '' })).toBe(expected);
  },
);

test.each(REJECT_REASONS.map((reason) => [reason] as const))(
  'work refused as %s is given back, and counted unless the owner wished it so',
  (reason) => {
    const isWish = reason === 'draining' || reason === 'paused';
    expect(verdict({ kind: 'rejected', reason })).toBe(
      isWish ? 'given back' : 'given back, counted',
    );
  },
);

test('a link that ended says nothing of the work', () => {
  expect(verdict({ kind: 'disconnected' })).toBe('leave');
});

test('work that was not taken in time is given back, and counted', () => {
  expect(verdict({ kind: 'not_accepted' })).toBe('given back, counted');
});

test('a deadline and an unusable answer are tried again', () => {
  expect(
    verdict({ kind: 'timeout', afterMs: 1_000, waitingFor: 'whole answer', isCallers: false }),
  ).toBe('tried again');
  expect(verdict({ kind: 'unusable', reason: 'it is no image' })).toBe('tried again');
});

test("the gateway's own full space is final, its other failures are not the provider's", () => {
  const codes = ['storage_full', 'storage_unavailable', 'capacity_exhausted'] as const;
  const told = codes.map((code) =>
    verdict({ kind: 'gateway', error: new ApiError(code, 'no room') }),
  );
  expect(told).toEqual(['failed for good', 'given back, counted', 'given back, counted']);
});

test.each<[string, AttemptFailure, string]>([
  ['of a failure', { kind: 'status', status: 500, body: '' }, 'failed'],
  ['of work that was not taken', { kind: 'not_accepted' }, 'failed'],
  ['of nothing, where the caller was wrong', { kind: 'status', status: 400, body: '' }, 'nothing'],
  ['of nothing, where the link was lost', { kind: 'disconnected' }, 'nothing'],
  ['to leave it alone, where its owner pauses', { kind: 'rejected', reason: 'paused' }, 'busy'],
  ['to leave it alone, where it yields', { kind: 'reset', code: 'YIELDED', message: '' }, 'busy'],
])('a run tells the matcher %s', (_, failure, expected) => {
  expect(reportRun(failure, 'den-pc', 'chat')).toEqual({ kind: expected });
});
