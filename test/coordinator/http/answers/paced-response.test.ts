import { PacedResponse } from '@inference-gateway/coordinator/http/answers/paced-response';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { until } from '../../../support/until.js';
import { openResponse } from './raw-response.js';

const LARGE = Buffer.alloc(16 * 1024 * 1024);

async function open(stallMs: number) {
  const { response, answer } = await openResponse();
  let stalls = 0;
  const paced = new PacedResponse(response, { stallMs }, () => (stalls += 1));
  return { response, answer, paced, stalls: () => stalls };
}

test('what fits is taken at once', async () => {
  const { paced } = await open(10_000);
  let taken = 0;
  paced.write(Buffer.alloc(100));
  paced.whenTaken(() => (taken += 1));
  expect(taken).toBe(1);
});

test('what does not fit is taken when the caller has read, everything in its order', async () => {
  const { paced, answer, response, stalls } = await open(10_000);
  const taken: number[] = [];
  paced.write(LARGE);
  for (const number of [1, 2, 3]) paced.whenTaken(() => taken.push(number));
  const message = await answer;
  expect(taken).toEqual([]);
  const all = buffer(message);
  await until(() => taken.length === 3, { what: 'the caller to read' });
  response.end();
  expect(taken).toEqual([1, 2, 3]);
  expect(await all).toHaveLength(LARGE.length);
  expect(stalls()).toBe(0);
});

test('a caller who takes nothing for too long has stalled, and is cut off', async () => {
  const { paced, response, answer, stalls } = await open(50);
  paced.write(LARGE);
  let taken = 0;
  for (let i = 0; i < 3; i++) paced.whenTaken(() => (taken += 1));
  await answer;
  await until(() => response.destroyed);
  expect([stalls(), taken]).toEqual([1, 0]);
});

test('a caller who leaves has not stalled', async () => {
  const { paced, response, answer, stalls } = await open(200);
  paced.write(LARGE);
  paced.whenTaken(() => {});
  (await answer).destroy();
  await until(() => response.destroyed);
  const later = performance.now() + 300;
  await until(() => performance.now() > later);
  expect(stalls()).toBe(0);
});
