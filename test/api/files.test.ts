/** Files of requests, and the batches that are read from them. */
import OpenAI, { toFile } from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { answer, hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { BATCHES, chatItem, getJson, listJobs, pauseQueue, submitBatch } from './job-calls.js';
import type { ListBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let stage: JobStage;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  stage = await openJobStage();
  gateway = stage.gateway;
  client = connect(OpenAI, gateway);
  return stage.stop;
});

beforeEach(() => stage.fake.behave(answer({ text: 'Hello from home.' })));

const CHAT = '/v1/chat/completions';

interface Line {
  readonly custom_id: string;
  readonly response: { status_code: number; request_id: string; body: unknown } | null;
  readonly error: { code: string; message: string } | null;
}

function chatLine(customId: string, fields: object = {}): object {
  const body = { model: 'tiny', messages: [{ role: 'user', content: customId }], ...fields };
  return { custom_id: customId, method: 'POST', url: CHAT, body };
}

function jsonl(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function upload(lines: readonly object[], name = 'night.jsonl', by = client) {
  return by.files.create({ file: await toFile(Buffer.from(jsonl(lines)), name), purpose: 'batch' });
}

type Submitted = Omit<OpenAI.BatchCreateParams, 'input_file_id' | 'endpoint' | 'completion_window'>;

async function submit(fileId: string, fields: Submitted = {}, by = client) {
  const asked = { input_file_id: fileId, endpoint: CHAT, completion_window: '24h' } as const;
  return by.batches.create({ ...asked, ...fields });
}

const FINAL: readonly string[] = ['completed', 'failed', 'expired', 'cancelled'];

async function ended(id: string, by = client): Promise<OpenAI.Batch> {
  const isOver = async (): Promise<OpenAI.Batch | null> => {
    const batch = await by.batches.retrieve(id);
    return FINAL.includes(batch.status) ? batch : null;
  };
  return until(isOver, { what: `the end of ${id}` });
}

async function linesOf(id: string | null | undefined, by = client): Promise<Line[]> {
  if (id === null || id === undefined) return [];
  const text = await (await by.files.content(id)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe.each(STOCK_CLIENTS)('with $version', ({ Sdk }) => {
  it('a file of requests becomes a file of answers', async () => {
    const sdk = connect(Sdk, gateway);
    const lines = Array.from({ length: 300 }, (_, i) => chatLine(`line-${i}`));
    const file = await upload(lines, 'night.jsonl', sdk);
    expect(file).toMatchObject({
      id: expect.stringMatching(/^file-\w{22}$/),
      object: 'file',
      purpose: 'batch',
      filename: 'night.jsonl',
      bytes: Buffer.byteLength(jsonl(lines)),
    });
    const batch = await submit(file.id, { metadata: { run: 'nightly' } }, sdk);
    expect(batch).toMatchObject({ object: 'batch', endpoint: CHAT, completion_window: '24h' });
    const done = await ended(batch.id, sdk);
    expect(done).toMatchObject({
      status: 'completed',
      input_file_id: file.id,
      request_counts: { total: 300, completed: 300, failed: 0 },
      metadata: { run: 'nightly' },
      errors: null,
    });
    expect(done.error_file_id).toBeNull();
    const output = await linesOf(done.output_file_id, sdk);
    expect(output.map(({ custom_id: id }) => id)).toEqual(lines.map((_, i) => `line-${i}`));
    for (const { response, error } of output) {
      expect(error).toBeNull();
      expect(response).toMatchObject({
        status_code: 200,
        body: { choices: [{ message: { content: 'Hello from home.' } }] },
      });
    }
    expect(await (await sdk.files.content(file.id)).text()).toBe(jsonl(lines));
    expect(await sdk.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(sdk.files.retrieve(file.id)).rejects.toMatchObject({ code: 'file_not_found' });
  });
});

it('the jobs of a batch that has ended are gone, and its answers stay', async () => {
  const batch = await ended((await submit((await upload([chatLine('a')])).id)).id);
  await until(async () => (await listJobs(gateway)).data.every((job) => job.batch_id !== batch.id));
  expect(await ended(batch.id)).toEqual(batch);
  expect(await linesOf(batch.output_file_id)).toHaveLength(1);
});

it('requests that fail are in the error file', async () => {
  stage.fake.once(reply(400, { error: { message: 'the prompt is not to my taste' } }));
  const file = await upload([chatLine('bad'), chatLine('good')]);
  const batch = await ended((await submit(file.id)).id);
  expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  const errors = await linesOf(batch.error_file_id);
  expect(errors).toMatchObject([
    { error: null, response: { status_code: 400, body: { error: { code: 'provider_rejected' } } } },
  ]);
  const ids = [...errors, ...(await linesOf(batch.output_file_id))].map((line) => line.custom_id);
  expect(ids.toSorted()).toEqual(['bad', 'good']);
});

describe.each([
  ['/v1/completions', { model: 'tiny', prompt: 'Say hello.' }],
  ['/v1/responses', { model: 'tiny', input: 'Say hello.' }],
] as const)('a file of requests to %s', (url, body) => {
  it('is answered in the form of that API', async () => {
    const lines = [{ custom_id: 'a', method: 'POST', url, body }];
    const file = await upload(lines);
    const batch = await client.batches.create({
      input_file_id: file.id,
      endpoint: url,
      completion_window: '24h',
    });
    const [line] = await linesOf((await ended(batch.id)).output_file_id);
    const object = url === '/v1/responses' ? 'response' : 'text_completion';
    expect(line).toMatchObject({ custom_id: 'a', response: { body: { object } } });
  });
});

it('a line that is long is a request like any other', async () => {
  const text = 'word '.repeat(100_000);
  const long = chatLine('long', { messages: [{ role: 'user', content: text }] });
  const batch = await ended((await submit((await upload([long, chatLine('b')])).id)).id);
  expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  expect(stage.fake.requests.some((one) => JSON.stringify(one.body).includes(text))).toBe(true);
});

it('an empty line, a carriage return and a byte order mark are no requests', async () => {
  const text = `\ufeff${JSON.stringify(chatLine('a'))}\r\n\n  \n${JSON.stringify(chatLine('b'))}`;
  const file = await client.files.create({
    file: await toFile(Buffer.from(text), 'a.jsonl'),
    purpose: 'batch',
  });
  const batch = await ended((await submit(file.id)).id);
  const output = await linesOf(batch.output_file_id);
  expect(output.map(({ custom_id: id }) => id)).toEqual(['a', 'b']);
});

it('one that is canceled says so of every request that was not answered', async () => {
  await stage.holdQueue();
  const lines = Array.from({ length: 400 }, (_, i) => chatLine(`line-${i}`));
  const { id } = await submit((await upload(lines)).id);
  await until(async () => (await listJobs(gateway)).data.some((job) => job.batch_id === id));
  const canceling = await client.batches.cancel(id);
  expect(canceling).toMatchObject({ id, status: expect.stringMatching(/^cancell(ing|ed)$/) });
  const batch = await ended(id);
  expect(batch).toMatchObject({
    status: 'cancelled',
    request_counts: { total: 400, completed: 0, failed: 0 },
    output_file_id: null,
  });
  const errors = await linesOf(batch.error_file_id);
  expect(errors.map((line) => line.custom_id)).toEqual(lines.map((_, i) => `line-${i}`));
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['batch_cancelled']));
});

it('one that was not answered within its window says so', async () => {
  let aheadMs = 0;
  const clock = { ...SYSTEM_CLOCK, now: () => Date.now() + aheadMs };
  const own = await startGateway({ clock });
  await pauseQueue(own);
  const sdk = connect(OpenAI, own);
  const file = await upload([chatLine('a'), chatLine('b')], 'a.jsonl', sdk);
  const batch = await submit(file.id, {}, sdk);
  aheadMs = 24 * 3_600_000 + 1_000;
  const done = await ended(batch.id, sdk);
  expect(done).toMatchObject({ status: 'expired', request_counts: { total: 2, completed: 0 } });
  const errors = await linesOf(done.error_file_id, sdk);
  expect(errors.map(({ error }) => error?.code)).toEqual(['batch_expired', 'batch_expired']);
});

it('a file never fills the queue of its member', async () => {
  const own = await startGateway({ maxQueuedJobs: 40 });
  await pauseQueue(own);
  const sdk = connect(OpenAI, own);
  const lines = Array.from({ length: 100 }, (_, i) => chatLine(`line-${i}`));
  const { id } = await submit((await upload(lines, 'a.jsonl', sdk)).id, {}, sdk);
  const queued = async (): Promise<number> => (await listJobs(own, '?limit=100')).data.length;
  await until(async () => (await queued()) === 10);
  // Others find room beside it.
  expect((await submitBatch(own, [chatItem(), chatItem()])).status).toBe(202);
  expect(await queued()).toBe(12);
  await sdk.batches.cancel(id);
});

it('a line may name an alias, and its answer names the model that served', async () => {
  await gateway.admin('alias.set', { name: 'gpt-*', models: ['tiny'], user: null });
  const lines = [chatLine('a', { model: 'gpt-7' })];
  const batch = await ended((await submit((await upload(lines)).id)).id);
  const [line] = await linesOf(batch.output_file_id);
  expect(line).toMatchObject({ custom_id: 'a', response: { body: { model: 'tiny' } } });
  await gateway.admin('alias.remove', { name: 'gpt-*', user: null });
});

it('both forms of batches are in one list, each in its own form', async () => {
  const sent = await submitBatch(gateway, [chatItem()], { label: 'sent' });
  expect(sent.status).toBe(202);
  const read = await submit((await upload([chatLine('a')])).id);
  await ended(read.id);
  const list = await getJson<ListBody<{ id: string; object: string }>>(gateway, BATCHES);
  expect(list.data.slice(0, 2).map(({ object }) => object)).toEqual(['batch', 'service.batch']);
  const [first] = (await client.batches.list({ limit: 1 })).data;
  expect(first?.id).toBe(read.id);
});

it('an idempotency key makes one batch', async () => {
  const file = await upload([chatLine('a')]);
  const asked = { input_file_id: file.id, endpoint: CHAT, completion_window: '24h' } as const;
  const once = { headers: { 'Idempotency-Key': 'once' } };
  const first = await client.batches.create(asked, once);
  const second = await client.batches.create(asked, once);
  expect(second.id).toBe(first.id);
});

it('files are listed by purpose, age and page', async () => {
  const own = await startGateway();
  const sdk = connect(OpenAI, own);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await upload([chatLine(name)], name, sdk)).id);
  const idsOf = async (query: OpenAI.FileListParams): Promise<string[]> =>
    (await sdk.files.list(query)).data.map(({ id }) => id);
  expect(await idsOf({})).toEqual(ids.toReversed());
  expect(await idsOf({ order: 'asc', limit: 2 })).toEqual(ids.slice(0, 2));
  expect(await idsOf({ order: 'asc', limit: 2, after: ids[1] ?? '' })).toEqual(ids.slice(2));
  expect(await idsOf({ purpose: 'batch_output' })).toEqual([]);
  await expect(idsOf({ purpose: 'vision' })).rejects.toMatchObject({ param: 'purpose' });
});

describe('nobody reaches more than they were given', () => {
  it('another member has no such file, and no such batch', async () => {
    const ben = connect(OpenAI, gateway, { apiKey: gateway.ben.key });
    const file = await upload([chatLine('a')]);
    const batch = await submit(file.id);
    for (const act of [
      () => ben.files.retrieve(file.id),
      () => ben.files.content(file.id),
      () => ben.files.delete(file.id),
      () => submit(file.id, {}, ben),
    ]) {
      await expect(act()).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
    }
    await expect(ben.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
    await expect(ben.batches.cancel(batch.id)).rejects.toMatchObject({ status: 404 });
    expect((await ben.files.list()).data).toEqual([]);
    await ended(batch.id);
  });

  it('a restricted key has its own files alone, and an open one those of its member', async () => {
    const told = { user: 'anna', name: 'fenced', scope: 'any', expires_in_s: null } as const;
    const fenced = await gateway.admin('key.create', { ...told, models: ['tiny'] });
    const sdk = connect(OpenAI, gateway, { apiKey: fenced.key });
    const others = await upload([chatLine('a')]);
    await expect(sdk.files.content(others.id)).rejects.toMatchObject({ status: 404 });
    await expect(submit(others.id, {}, sdk)).rejects.toMatchObject({ status: 404 });
    const own = await upload([chatLine('b')], 'own.jsonl', sdk);
    const batch = await ended((await submit(own.id, {}, sdk)).id, sdk);
    expect(await linesOf(batch.output_file_id, sdk)).toHaveLength(1);
    expect((await sdk.files.list()).data.map(({ id }) => id)).toContain(batch.output_file_id);
    expect(await linesOf(batch.output_file_id)).toHaveLength(1);
  });

  it('a file is no asset, and an asset is no file', async () => {
    const file = await upload([chatLine('a')]);
    const headers = { authorization: `Bearer ${gateway.anna.key}` };
    const path = `/api/inference/assets/${file.id.replace('file-', '')}`;
    expect((await gateway.fetch(path, { headers })).status).toBe(404);
    const list = await (await gateway.fetch('/api/inference/assets', { headers })).text();
    expect(list).not.toContain(file.id.replace('file-', ''));
  });
});

it('a file that a batch reads is not deleted', async () => {
  stage.fake.behave(hangBeforeHeaders());
  const file = await upload([chatLine('a')]);
  const batch = await submit(file.id);
  await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 409 });
  await client.batches.cancel(batch.id);
  await ended(batch.id);
  expect((await client.files.delete(file.id)).deleted).toBe(true);
});

it('files count to the space of their member, which answers wait for', async () => {
  const home = await startFakeOpenAi({ behaviour: answer({ text: 'x'.repeat(2_000) }) });
  // A tenth of it is a member's.
  const own = await startGateway({ assetsMaxBytes: 10 * 3_000 });
  await own.startAgent({ services: [{ baseUrl: home.baseUrl }] });
  const sdk = connect(OpenAI, own);
  const file = await upload([chatLine('a'), chatLine('b')], 'a.jsonl', sdk);
  const { id } = await submit(file.id, {}, sdk);
  const full = await until(async () => {
    const batch = await sdk.batches.retrieve(id);
    return batch.errors === null || batch.errors === undefined ? null : batch;
  });
  expect(full).toMatchObject({
    status: 'finalizing',
    errors: { data: [{ code: 'storage_full' }] },
    output_file_id: null,
  });
  await expect(
    upload(
      Array.from({ length: 30 }, (_, i) => chatLine(`${i}`)),
      'b.jsonl',
      sdk,
    ),
  ).rejects.toMatchObject({ status: 507 });
  await own.stop();
  await home.close();
});

const ASKED = { endpoint: CHAT, completion_window: '24h' } as const;

describe('bad input names the field, the value and the remedy', () => {
  const cases: readonly [string, readonly unknown[], string, RegExp][] = [
    ['no JSON', [chatLine('a'), 'nonsense'], 'line 2', /line 2.*not valid JSON/],
    ['no object', [[1]], 'line 1', /line 1/],
    ['no custom_id', [{ ...chatLine('a'), custom_id: 7 }], 'line 1.custom_id', /string/],
    ['another method', [{ ...chatLine('a'), method: 'GET' }], 'line 1.method', /must be POST/],
    ['another url', [{ ...chatLine('a'), url: '/v1/nothing' }], 'line 1.url', /must be one of/],
    ['a picture', [{ ...chatLine('a'), url: '/v1/images/generations' }], 'line 1.url', /one of/],
    [
      'two urls',
      [
        chatLine('a'),
        { ...chatLine('b'), url: '/v1/completions', body: { model: 'm', prompt: 'p' } },
      ],
      'line 2.url',
      /one file for each/,
    ],
    ['a custom_id twice', [chatLine('a'), chatLine('a')], 'line 2.custom_id', /as in line 1/],
    ['a bad request', [chatLine('a', { temperature: 'hot' })], 'line 1.body.temperature', /hot/],
    ['a name in another case', [chatLine('a', { Model: 'x' })], 'line 1.body.Model', /model/],
    ['no request', [], 'file', /no request/],
    ['its own webhook', [chatLine('a', { webhook: HOOK })], 'line 1.body.webhook', /webhook/],
  ];
  it.each(cases)('%s', async (...[, lines, param, message]) => {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    const file = await toFile(Buffer.from(text.join('\n')), 'a.jsonl');
    const before = (await client.files.list({ limit: 100 })).data.length;
    const sent = client.files.create({ file, purpose: 'batch' });
    await expect(sent).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringMatching(message),
    });
    expect((await client.files.list({ limit: 100 })).data).toHaveLength(before);
  });

  it.each([
    ['another purpose', { purpose: 'vision' }, 'purpose'],
    ['no purpose', {}, 'purpose'],
    ['a short life', { purpose: 'batch', 'expires_after[seconds]': '5' }, 'expires_after.anchor'],
  ])('%s', async (_, fields, param) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([jsonl([chatLine('a')])]), 'a.jsonl');
    const response = await gateway.fetch('/v1/files', {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.anna.key}` },
      body: form,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it.each([
    ['a window without end', { ...ASKED, completion_window: '9999h' }, 'completion_window'],
    ['no endpoint', { completion_window: '24h' }, 'endpoint'],
    ['another endpoint', { ...ASKED, endpoint: '/v1/completions' }, 'endpoint'],
    ['requests beside it', { ...ASKED, requests: [] }, 'requests'],
    ['no text in metadata', { ...ASKED, metadata: { a: 1 } }, 'metadata.a'],
    [
      'much metadata',
      { ...ASKED, metadata: Object.fromEntries(Array.from({ length: 17 }, (__, i) => [i, 'x'])) },
      'metadata',
    ],
  ])('%s', async (_, fields, param) => {
    const { id } = await upload([chatLine('a')]);
    const response = await gateway.fetch(BATCHES, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.anna.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input_file_id: id, ...fields }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it('a file that is not there', async () => {
    const asked = submit('file-0000000000000000000000');
    await expect(asked).rejects.toMatchObject({ status: 404, param: 'input_file_id' });
  });

  it('the output of another batch', async () => {
    const done = await ended((await submit((await upload([chatLine('a')])).id)).id);
    const asked = submit(done.output_file_id ?? '');
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
  });
});

const HOOK = {
  url: 'https://example.org/hook',
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
};
