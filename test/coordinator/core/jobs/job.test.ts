import { backoffMs, retriesExhausted } from '@inference-gateway/coordinator/core/jobs/job';
import { ERRORS } from '@inference-gateway/shared/errors';
import { expect, test } from 'vitest';

test('each attempt is waited for twice as long, spread by half, and a minute at most', () => {
  const spread = [1, 2, 3].map((attempt) =>
    [0, 0.5, 1].map((random) => backoffMs(attempt, random)),
  );
  expect(spread).toEqual([
    [1_000, 2_000, 3_000],
    [2_000, 4_000, 6_000],
    [4_000, 8_000, 12_000],
  ]);
  expect([backoffMs(6, 0.5), backoffMs(50, 0)]).toEqual([60_000, 60_000]);
});

test('an exhausted job says how often it failed, and keeps the last reason', () => {
  const last = {
    message: 'The local server answered 500.',
    type: 'upstream_error',
    code: 'provider_error',
    param: 'size',
  } as const;
  expect(retriesExhausted(last, 3)).toEqual({
    message: 'It failed 3 times. The last time: The local server answered 500.',
    type: ERRORS.max_retries_exhausted.type,
    code: 'max_retries_exhausted',
    param: 'size',
  });
  expect(retriesExhausted(last, 1).message).toMatch(/^It failed once\. The last time: /);
});
