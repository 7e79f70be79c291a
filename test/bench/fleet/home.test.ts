import { expect, test } from 'vitest';
import { tokenEvent, lastEvent, usageEvent } from '../../../bench/fleet/chat.js';
import { words } from '../../../bench/fleet/fleet.js';
import type { HomePlan } from '../../../bench/fleet/home-plan.js';
import { ended, getJob, submitted } from '../../api/job-calls.js';
import { chat, failureOf, post } from '../../api/requests.js';
import { HOME, startFleet } from '../../support/fleet-stage.js';
import { startGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';

const TOKENS = 12;
const TEXT = 'the quick brown fox jumps over a lazy dog. the quick brown ';

test('a stock client reads the streamed chat of a home to its last word', async () => {
  const { client } = await withHome();
  const stream = await client.chat.completions.create({
    ...chat({ model: 'm' }),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let usage = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  expect(text).toBe(TEXT);
  expect(usage).toMatchObject({ completion_tokens: TOKENS });
});

test('what a caller reads is byte for byte what the home said', async () => {
  const gateway = await withHome();
  const body = chat({ model: 'm', stream: true, stream_options: { include_usage: true } });
  const response = await post(gateway, body);
  const told = { id: response.headers.get('x-request-id') ?? '', model: 'm' };
  const tokens = Array.from({ length: TOKENS }, (_, i) => tokenEvent(told, i, words(i)));
  const usage = { prompt_tokens: 10, completion_tokens: TOKENS, total_tokens: 10 + TOKENS };
  const end = `${lastEvent(told)}${usageEvent(told, usage)}data: [DONE]\n\n`;
  expect(await response.text()).toBe(tokens.join('') + end);
});

test('a chat without a stream is one document, as long as its request allows', async () => {
  const { client } = await withHome();
  const answer = await client.chat.completions.create(chat({ model: 'm', max_tokens: 4 }));
  expect(answer.choices[0]?.message.content).toBe('the quick brown fox ');
  expect(answer.usage?.total_tokens).toBe(14);
});

test('an answer of more than a window of credit arrives whole', async () => {
  const gateway = await withHome({ card: { ...HOME.card, tokens: 4_000, tokensPerSecond: 1e6 } });
  const response = await post(gateway, chat({ model: 'm', stream: true }));
  const text = await response.text();
  expect(text.length).toBeGreaterThan(512 * 1024);
  expect(text.split('"content"')).toHaveLength(4_001);
});

test('a slow line takes its time', async () => {
  const gateway = await withHome({ upBytesPerSecond: 4_000 });
  const askedAt = performance.now();
  const response = await post(gateway, chat({ model: 'm', stream: true }));
  const { length } = await response.text();
  expect(performance.now() - askedAt).toBeGreaterThan((length * 1_000) / 4_000 / 2);
});

test('a card that fails is answered by 502', async () => {
  const gateway = await withHome({ card: { ...HOME.card, failingShare: 1 } });
  const failure = await failureOf(await post(gateway, chat({ model: 'm' })));
  expect(failure).toMatchObject({ status: 502, type: 'upstream_error' });
});

test('a job that outlives its link is done once, and its result is stored', async () => {
  const gateway = await startGateway();
  const slow = { ...HOME.card, tokensPerSecond: TOKENS };
  const fleet = await startFleet(gateway, [{ ...HOME, card: slow }]);
  const { id } = await submitted(gateway, { model: 'm' });
  await until(async () => (await getJob(gateway, id)).status === 'PROCESSING');
  await until(() => fleet.counts.opened === 1);
  fleet.dropAll();
  await until(() => fleet.online === 0);
  expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(fleet.counts).toMatchObject({ opened: 1, answered: 1, links: 2 });
});

test('a home that was switched off has forgotten its job, which is tried again', async () => {
  const gateway = await startGateway();
  const slow = { ...HOME.card, tokensPerSecond: TOKENS };
  const fleet = await startFleet(gateway, [{ ...HOME, card: slow }]);
  const { id } = await submitted(gateway, { model: 'm' });
  await until(() => fleet.counts.opened === 1);
  await until(async () => (await getJob(gateway, id)).status === 'PROCESSING');
  fleet.homes[0]?.restart();
  expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 2 });
});

test('a call whose caller leaves ends on the card, and frees its slot', async () => {
  const gateway = await startGateway();
  const endless = { ...HOME.card, tokens: 1_000, tokensPerSecond: 20 };
  const fleet = await startFleet(gateway, [{ ...HOME, slots: 1, card: endless }]);
  const leaving = new AbortController();
  const { signal } = leaving;
  const response = await post(gateway, chat({ model: 'm', stream: true }), { signal });
  expect(response.status).toBe(200);
  leaving.abort();
  await until(() => fleet.counts.canceled === 1);
  const answer = await post(gateway, chat({ model: 'm', max_tokens: 2 }));
  expect(answer.status).toBe(200);
});

test('a home asleep is offline until it is woken', async () => {
  const gateway = await startGateway();
  const fleet = await startFleet(gateway, [HOME]);
  fleet.sleepAll();
  const models = async () => (await gateway.client.models.list()).data.length;
  await until(async () => (await models()) === 0);
  fleet.wakeAll();
  await until(async () => (await models()) === 1);
  // The model is listed before the home has read its WELCOME.
  await until(() => fleet.counts.links === 2);
});

async function withHome(plan: Partial<HomePlan> = {}) {
  const gateway = await startGateway();
  await startFleet(gateway, [{ ...HOME, ...plan }]);
  return gateway;
}
