/** What a coordinator cannot make an agent do with the models of local servers. */
import { expect, onTestFinished, test } from 'vitest';
import { ASK_LIMITS } from '@inference-gateway/shared/protocol/asks';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { configuredServer } from '../../support/configured-server.js';
import { startManagedOllama } from '../../support/local-servers/managed-ollama.js';
import { startRecordingServer } from '../../support/recording-server.js';
import { until } from '../../support/until.js';
import { MANAGED } from '../models/model-stage.js';
import { jobStage } from './job-stage.js';

async function stage(models = MANAGED) {
  const ollama = await startManagedOllama();
  onTestFinished(() => ollama.server.close());
  ollama.models.set('mine:latest', 5_000);
  const { coordinator, startAgent } = await jobStage();
  const service = configuredServer(ollama.baseUrl, { id: 'llm-0', backend: 'ollama' });
  const agent = await startAgent({ services: [service], models });
  const link = await coordinator.link(0);
  let asked = 0;
  const ask = (topic: string, args: Record<string, unknown>): number => {
    asked += 1;
    link.send({ t: 'ASK', ask: asked, topic, args, by: 'Mallory' });
    return asked;
  };
  const last = (id: number): Promise<Message<'REPLY'>> =>
    until(() => link.all('REPLY').find((one) => one.ask === id && one.last));
  const codeOf = async (topic: string, args: Record<string, unknown>) =>
    (await last(ask(topic, args))).refusal?.code;
  return { ollama, agent, coordinator, link, ask, last, codeOf };
}

const changes = ({ requests }: { requests: readonly { method: string }[] }) =>
  requests.filter(({ method }) => method !== 'GET');

test('the agent says that it answers questions', async () => {
  const { coordinator } = await stage();
  expect(coordinator.hellos[0]?.features).toContain('asks');
});

test('no address, other registry, other server or other service is ever asked', async () => {
  const { ollama, codeOf } = await stage();
  const elsewhere = await startRecordingServer((_, response) => void response.end('{}'));
  onTestFinished(() => elsewhere.close());
  const { origin } = elsewhere;
  const host = origin.replace('http://', '');
  for (const model of [origin, `${host}/model`, `${host}/library/model`, 'hf.co/a/b']) {
    expect(await codeOf('models.pull', { service_id: 'llm-0', model })).toBe('invalid_name');
  }
  for (const service of [origin, 'llm-1', '../llm-0', 'ollama']) {
    expect(await codeOf('models.pull', { service_id: service, model: 'x' })).toBe('no_service');
  }
  const extra = { service_id: 'llm-0', model: 'x', base_url: origin, insecure: true };
  expect(await codeOf('models.pull', extra)).toBe('invalid_arguments');
  expect(await codeOf('models.install-backend', { name: 'x' })).toBe('unknown_question');
  expect(elsewhere.requests).toEqual([]);
  expect(changes(ollama.server)).toEqual([]);
});

test('the owner’s own models are not deleted, and nothing at all while it is off', async () => {
  const { ollama, codeOf } = await stage();
  const mine = { service_id: 'llm-0', model: 'mine:latest' };
  expect(await codeOf('models.delete', mine)).toBe('not_pulled_here');
  // Pulled again they would count as pulled this way.
  expect(await codeOf('models.pull', mine)).toBe('exists');
  expect(ollama.models.has('mine:latest')).toBe(true);
  const off = await stage({ ...MANAGED, manage: false });
  for (const topic of ['models.load', 'models.unload', 'models.pull', 'models.delete']) {
    expect(await off.codeOf(topic, mine)).toBe('not_enabled');
  }
  expect(changes(off.ollama.server)).toEqual([]);
});

test('a flood of questions is refused, and the link goes on', async () => {
  const { link, ask, last, agent } = await stage();
  const ids = Array.from({ length: 2 * ASK_LIMITS.maxPerMinute }, () => ask('models.list', {}));
  await last(ids.at(-1) ?? 0);
  await until(() => link.all('REPLY').filter((one) => one.last).length === ids.length);
  const refused = link.all('REPLY').filter(({ refusal }) => refusal?.code === 'busy');
  expect(refused.length).toBeGreaterThanOrEqual(ASK_LIMITS.maxPerMinute);
  expect(agent.status().connection).toBe('online');
});

test('a pull goes on without its link, and its end is told on the next one', async () => {
  const { ollama, link, ask, coordinator } = await stage();
  ollama.library.set('new:1b', { layers: [2_000] });
  ollama.isHeld = true;
  ask('models.pull', { service_id: 'llm-0', model: 'new:1b' });
  await until(() => ollama.transferred > 0);
  link.cut();
  const next = await coordinator.link(1);
  ollama.isHeld = false;
  const states = await until(async () => {
    next.send({ t: 'ASK', ask: next.messages.length + 1, topic: 'models.list', args: {}, by: 'A' });
    await until(() => next.all('REPLY').length > 0);
    const body = next.all('REPLY').at(-1)?.body as { activities?: { state: string }[] };
    return body?.activities?.[0]?.state === 'done';
  });
  expect(states).toBe(true);
  expect(ollama.models.has('new:1b')).toBe(true);
});
