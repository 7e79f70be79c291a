/** The excerpts of a member's requests: nobody else sees any of them, in any way. */
import { ADMIN_COMMANDS } from '@inference-gateway/coordinator/operations/operations';
import { expect, onTestFinished, test } from 'vitest';
import {
  accepted,
  BATCHES,
  chatItem,
  ended,
  getJson,
  JOBS,
  submitBatch,
  submitted,
} from '../api/job-calls.js';
import type { BatchBody, JobBody, ListBody } from '../api/job-calls.js';
import { failureOf, post } from '../api/requests.js';
import type { Caller } from '../api/requests.js';
import { answer } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { expectOk, startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import type { RunningProgram } from '../support/program.js';
import { startRecordingServer } from '../support/recording-server.js';
import type { RecordingServer } from '../support/recording-server.js';
import { make } from '../support/studio.js';
import { until } from '../support/until.js';

const TEXT = 'excerpt-4711-xylophone';
const METRICS_TOKEN = 'metrics-token-4711';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ASSETS = '/api/inference/assets';
const OWNER = 'anna@example.org';
const messages = [{ role: 'user', content: `Find ${TEXT}` }];

interface Stage {
  readonly gateway: ProcessGateway;
  readonly programs: readonly RunningProgram[];
  readonly receiver: RecordingServer;
  /** With whom Anna shares nothing. */
  readonly ben: Caller;
  readonly job: JobBody;
  readonly batch: BatchBody;
}

/** Work of every kind, with webhooks, on a gateway that logs all that it may. */
async function workOfAnna(): Promise<Stage> {
  const texts = await startFakeOpenAi({ behaviour: answer({ text: 'Hello.' }) });
  const pictures = await startFakeOpenAi({ behaviour: make, models: [] });
  const receiver = await startRecordingServer((_, response) => void response.writeHead(204).end());
  for (const server of [texts, pictures, receiver]) onTestFinished(() => server.close());
  const started = await startProcessGateway([llm(texts), image(pictures)], {
    GATEWAY_LOG_LEVEL: 'debug',
    GATEWAY_METRICS_TOKEN: METRICS_TOKEN,
    GATEWAY_WEBHOOK_PRIVATE: 'true',
  });
  const { gateway } = started;
  const agent = gateway.startAgent('den-pc', undefined, { GATEWAY_AGENT_LOG_LEVEL: 'debug' });
  await agent.online;
  const webhook = { url: `${receiver.origin}/told`, secret: SECRET };
  const [painted, path] = [{ model: 'sd', prompt: `Paint ${TEXT}` }, '/v1/images/generations'];
  expect((await post(gateway, painted, { path })).status).toBe(200);
  const picture = await post(gateway, { ...painted, async: true }, { path });
  await ended(gateway, (await accepted<JobBody>(picture)).id);
  const job = await ended(gateway, (await submitted(gateway, { messages, webhook })).id);
  const sent = await submitBatch(gateway, [chatItem({ messages })], { webhook });
  const batch = await accepted<BatchBody>(sent);
  await until(() => receiver.to('/told').length === 2);
  const programs = [started.coordinator, agent];
  return { gateway, programs, receiver, ben: await memberNamed(gateway, 'ben'), job, batch };
}

function llm({ baseUrl }: FakeModelServer): object {
  return { type: 'llm', backend: 'openai', base_url: baseUrl };
}

function image({ baseUrl }: FakeModelServer): object {
  const models = [{ id: 'sd' }];
  return { type: 'image', backend: 'openai', base_url: baseUrl, models };
}

async function memberNamed(gateway: ProcessGateway, name: string): Promise<Caller> {
  const email = `${name}@example.org`;
  expectOk(await gateway.admin('user', 'create', '--email', email, '--name', name));
  const made = await gateway.admin('key', 'create', '--user', email, '--name', 'test');
  const authorization = `Bearer ${expectOk(made).stdout.trim()}`;
  return { fetch: (path, init) => gateway.fetch(path, { ...init, headers: { authorization } }) };
}

test('the text of a request is told to its owner, and to nobody else', async () => {
  const stage = await workOfAnna();
  await expectToldTo(stage);
  await expectUnknownTo(stage.ben, stage);
  await expectNotAdministered(stage);
  const { programs, receiver, job } = stage;
  const webhooks = receiver.to('/told').map(({ body }) => body.toString());
  const types = webhooks.map((body) => (JSON.parse(body) as { type: string }).type);
  expect(types.toSorted()).toEqual(['batch.finished', 'job.finished']);
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const metrics = await (await fetch(`${stage.gateway.url}/metrics`, { headers })).text();
  expect(metrics).toContain('gateway_');
  const logs = programs.map(({ output }) => output.stderr + output.stdout);
  expect(logs[0]).toContain(job.id);
  for (const text of [...webhooks, metrics, ...logs]) expect(text).not.toContain('xylophone');
}, 60_000);

/** All that its owner reads. */
async function expectToldTo({ gateway, job, batch }: Stage): Promise<void> {
  expect(await getJson(gateway, `${JOBS}/${job.id}`)).toHaveProperty('excerpt', `Find ${TEXT}`);
  const jobs = await getJson<ListBody<object>>(gateway, `${JOBS}?search=XYLO`);
  expect(jobs.data).toHaveLength(3);
  const files = await getJson<ListBody<object>>(gateway, `${ASSETS}?search=4711`);
  expect(files.data).toMatchObject([{ excerpt: `Paint ${TEXT}` }, { excerpt: `Paint ${TEXT}` }]);
  const own = await getJson<BatchBody>(gateway, `${BATCHES}/${batch.id}`);
  expect(own.jobs).toMatchObject([{ excerpt: `Find ${TEXT}`, model: 'tiny' }]);
}

/** By a list, an id or a search. */
async function expectUnknownTo(other: Caller, { job, batch }: Stage): Promise<void> {
  for (const path of [JOBS, ASSETS, `${JOBS}?search=xylophone`, `${ASSETS}?search=xylophone`]) {
    expect(await getJson(other, path)).toMatchObject({ data: [] });
  }
  for (const path of [`${JOBS}/${job.id}`, `${BATCHES}/${batch.id}`]) {
    expect(await failureOf(await other.fetch(path))).toMatchObject({ status: 404 });
  }
}

/** Every command that reads, asked for all that it has of the owner. */
async function expectNotAdministered({ gateway, job, batch }: Stage): Promise<void> {
  const all = { user: OWNER, limit: 100 };
  const usage = { since_s: 3_600, by: 'day', user: OWNER };
  const argsOf: Readonly<Record<string, object>> = {
    'user.show': { member: OWNER },
    'user.sessions': { member: null },
    'key.list': { user: OWNER },
    'key.show': { key: `${OWNER}/test` },
    'network.show': { network: 'none' },
    'provider.show': { provider: 'Anna/den-pc' },
    'model.list': { user: OWNER },
    'alias.list': { user: OWNER },
    'limit.show': { user: OWNER },
    'audit.list': { since_s: null, action: null, actor: null, subject: null, limit: 100 },
    'stats.show': usage,
    'usage.series': usage,
    'usage.recent': { ...all, after: null },
    'asset.list': all,
    'job.list': { ...all, status: null, active: false },
    'job.show': { job: job.id },
    'batch.list': all,
    'batch.show': { batch: batch.id },
  };
  const told = new Map<string, string>();
  for (const [name, { kind }] of Object.entries(ADMIN_COMMANDS)) {
    if (kind !== 'read') continue;
    const args = (argsOf[name] ?? {}) as never;
    const asked = gateway.ask(name as 'job.list', args);
    told.set(name, await asked.then(JSON.stringify, (error: unknown) => String(error)));
  }
  // What these tell is of the owner's work, so that an excerpt would be there, too.
  for (const name of ['job.show', 'job.list']) expect(told.get(name)).toContain(job.id);
  expect(told.get('batch.show')).toContain(batch.id);
  expect(told.get('asset.list')).toContain('"model":"sd"');
  expect(told.get('usage.recent')).toContain('"model":"sd"');
  expect([...told].filter(([, text]) => text.includes('xylophone'))).toEqual([]);
}
