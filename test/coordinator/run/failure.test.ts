import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { judge, reportOf, reportOfRun } from '@inference-gateway/coordinator/run/failure';
import type { AttemptFailure, Blame, JobFate } from '@inference-gateway/coordinator/run/failure';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { REJECT_REASONS, RESET_CODES } from '@inference-gateway/shared/protocol/messages';
import type { ResetCode } from '@inference-gateway/shared/protocol/messages';
import { describe, expect, it } from 'vitest';

const status = (code: number, error: unknown = { message: 'says so' }): AttemptFailure => ({
  kind: 'status',
  status: code,
  body: JSON.stringify({ error }),
});

const reset = (code: ResetCode, message = 'because'): AttemptFailure => ({
  kind: 'reset',
  code,
  message,
});

describe('a failed attempt means', () => {
  it.each<[string, AttemptFailure, Blame, ErrorCode]>([
    [
      'an upload that our own disk has lost: no provider’s fault',
      { kind: 'upload_unreadable', cause: new Error('ENOENT: /var/lib/gateway/uploads/x') },
      'final',
      'storage_unavailable',
    ],
    ['400', status(400), 'final', 'provider_rejected'],
    ['422', status(422), 'final', 'provider_rejected'],
    [
      'a context that is too long',
      status(400, { message: 'too long', code: 'context_length_exceeded' }),
      'final',
      'context_length_exceeded',
    ],
    ['401: the provider, not the caller, is wrong', status(401), 'failed', 'provider_auth_failed'],
    ['403', status(403), 'failed', 'provider_auth_failed'],
    ['404', status(404), 'failed', 'provider_error'],
    ['408', status(408), 'wait', 'capacity_exhausted'],
    ['425', status(425), 'wait', 'capacity_exhausted'],
    ['429', status(429), 'wait', 'capacity_exhausted'],
    ['503: loading, or full', status(503), 'wait', 'capacity_exhausted'],
    ['500', status(500), 'failed', 'provider_error'],
    [
      'an error that is no JSON',
      { kind: 'status', status: 500, body: '<p>' },
      'failed',
      'provider_error',
    ],
    ['a lost link', { kind: 'disconnected' }, 'failed', 'provider_disconnected'],
    ['no ACCEPT', { kind: 'not_accepted' }, 'failed', 'provider_timeout'],
    [
      'silence',
      { kind: 'timeout', afterMs: 60_000, waitingFor: 'further byte', isCallers: false },
      'failed',
      'provider_timeout',
    ],
    ['nonsense', { kind: 'unusable', reason: 'it is no JSON' }, 'failed', 'provider_error'],
    ['a local server that timed out', reset('LOCAL_TIMEOUT'), 'failed', 'provider_timeout'],
    ['a local server that is down', reset('LOCAL_UNREACHABLE'), 'failed', 'provider_error'],
    ['a card taken back by its owner', reset('YIELDED'), 'skip', 'provider_error'],
  ])('%s', (_, failure, ...expected) => {
    const verdict = judge(failure, 'den-pc');
    expect([verdict.blame, verdict.error.code]).toEqual(expected);
  });

  it('for every rejection: wait where it is busy, else look elsewhere', () => {
    const blames = REJECT_REASONS.map((reason) => judge({ kind: 'rejected', reason }, 'x').blame);
    expect(blames).toEqual(['wait', 'skip', 'skip', 'skip', 'skip', 'failed']);
  });

  it('that no reset is ever the fault of the caller', () => {
    for (const code of RESET_CODES) expect(judge(reset(code), 'x').blame).not.toBe('final');
  });

  it('in one sentence, whether or not what the agent says ends as one', () => {
    const said = ['it broke off', 'it broke off.', 'no answer. Is it running?'].map(
      (message) => judge(reset('LOCAL_UNREACHABLE', message), 'x').error.message,
    );
    const failed = 'The model server of x failed: ';
    const ends = ['it broke off.', 'it broke off.', 'no answer. Is it running?'];
    expect(said).toEqual(ends.map((end) => failed + end));
  });

  it("nothing else than the provider's message and field, where it refused the request", () => {
    const body = { message: 'no such tool', param: 'tools[0]', code: 7, secret: '/home/anna' };
    expect(judge(status(400, body), 'den-pc').error.body).toEqual({
      error: {
        message: 'no such tool',
        type: 'invalid_request_error',
        code: 'provider_rejected',
        param: 'tools[0]',
      },
    });
  });
});

const TIMEOUT = { kind: 'timeout', afterMs: 1_000, waitingFor: 'whole answer' } as const;

it.each<[string, AttemptFailure, string]>([
  ['a local 500: a failure', status(500), 'failed'],
  ['work that was not taken in time: a failure', { kind: 'not_accepted' }, 'failed'],
  ['a local 400: nothing, the caller was wrong', status(400), 'nothing'],
  ['a local 429: that it is busy', status(429), 'busy'],
  ['a refusal as busy', { kind: 'rejected', reason: 'busy' }, 'busy'],
  ['an owner who pauses: nothing', { kind: 'rejected', reason: 'paused' }, 'nothing'],
  ['an owner who takes the card back: nothing', reset('YIELDED'), 'nothing'],
  ['a lost link: nothing of the model', { kind: 'disconnected' }, 'nothing'],
])('the matcher is told of %s', (_, failure, expected) => {
  expect(reportOf(failure, judge(failure, 'den-pc'), 'chat')).toEqual({ kind: expected });
});

it.each<[string, AttemptFailure, EndpointKey, string]>([
  ['a 404 by the usual way to its models: a failure', status(404), 'images', 'failed'],
  ['a 404 by a way that many servers lack: nothing', status(404), 'edits', 'nothing'],
  ['a 501 by such a way: nothing', status(501), 'completions', 'nothing'],
  ['a 500 by such a way: a failure', status(500), 'voice', 'failed'],
  ["a timeout of its caller's own: nothing", { ...TIMEOUT, isCallers: true }, 'chat', 'nothing'],
  ['any other timeout: a failure', { ...TIMEOUT, isCallers: false }, 'chat', 'failed'],
])('the matcher is told of %s', (...[, failure, endpoint, expected]) => {
  expect(reportOf(failure, judge(failure, 'den-pc'), endpoint)).toEqual({ kind: expected });
});

const fateOf = (failure: AttemptFailure): JobFate => judge(failure, 'den-pc').fate;

const gateway = (code: ErrorCode): AttemptFailure => ({
  kind: 'gateway',
  error: new ApiError(code, 'no room'),
});

describe('a job comes to', () => {
  it.each<[number, JobFate]>([
    [400, 'fail'],
    [401, 'retry'],
    [404, 'retry'],
    [408, 'retry'],
    [413, 'fail'],
    [422, 'fail'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])("where a local server answers %i: '%s'", (code, fate) => {
    expect(fateOf(status(code))).toBe(fate);
  });

  it.each(RESET_CODES.map((code) => [code] as const))(
    'another attempt where its agent ends it with %s, and is given back where it yields',
    (code) => expect(fateOf(reset(code))).toBe(code === 'YIELDED' ? 'release' : 'retry'),
  );

  it.each(REJECT_REASONS.map((reason) => [reason] as const))(
    'being given back where it is refused as %s, counted unless the owner chose so',
    (reason) => {
      const isChoice = reason === 'draining' || reason === 'paused';
      expect(fateOf({ kind: 'rejected', reason })).toBe(isChoice ? 'release' : 'count');
    },
  );

  it.each<[string, AttemptFailure, JobFate]>([
    ['a lost link, which tells nothing of the work', { kind: 'disconnected' }, 'leave'],
    ['no ACCEPT', { kind: 'not_accepted' }, 'count'],
    ['a deadline', { ...TIMEOUT, isCallers: false }, 'retry'],
    ['an unusable answer', { kind: 'unusable', reason: 'it is no image' }, 'retry'],
    ["the gateway's own full space, which stays full", gateway('storage_full'), 'fail'],
    ["the gateway's own broken database", gateway('storage_unavailable'), 'count'],
    ["the gateway's own full memory", gateway('capacity_exhausted'), 'count'],
  ])("what its failure means, after %s: '%s'", (_, failure, fate) => {
    expect(fateOf(failure)).toBe(fate);
  });

  it.each<[string, AttemptFailure, string]>([
    ['of a failure', status(500), 'failed'],
    ['of work that was not taken', { kind: 'not_accepted' }, 'failed'],
    ['of nothing, where the caller was wrong', status(400), 'nothing'],
    ['of nothing, where the link was lost', { kind: 'disconnected' }, 'nothing'],
    ['to leave it alone, where its owner pauses', { kind: 'rejected', reason: 'paused' }, 'busy'],
    ['to leave it alone, where it yields', reset('YIELDED'), 'busy'],
  ])('what tells the matcher %s', (_, failure, expected) => {
    expect(reportOfRun(failure, judge(failure, 'den-pc'), 'chat')).toEqual({ kind: expected });
  });
});
