/** One demo for the whole file: what its dashboard shows, read as a caller. */
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import type { Coordinator } from '@inference-gateway/coordinator/coordinator';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { enliven, foundDemo } from '@inference-gateway/coordinator/demo/demo';
import type { LivingDemo } from '@inference-gateway/coordinator/demo/demo';
import type { Scene } from '@inference-gateway/coordinator/demo/scene';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../support/usage-rows.js';
import { until } from '../../support/until.js';
import { my, readMy, refusal } from '../../api/console-calls.js';
import { visitAgain } from '../../api/visitor.js';

const PASSWORD = 'correct horse battery staple';
const DAY_MS = 86_400_000;

let dataDir: string;
let scene: Scene;
let coordinator: Coordinator;
let demo: LivingDemo;
let client: OpenAI;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const settings = { ...loadConfig({}, {}), port: 0, dataDir, drainMs: 200 };
  const { retentionMs } = settings;
  const store = await openStore(dataDir);
  scene = await foundDemo(store, { dataDir, retentionMs, password: PASSWORD, now: Date.now() });
  await store.close();
  coordinator = await startCoordinator({ ...settings, logLevel: 'silent' });
  demo = enliven(scene, coordinator.address);
  const { secret: apiKey } = scene.members.Anna;
  client = new OpenAI({ baseURL: `${coordinator.address}/v1`, apiKey, maxRetries: 0 });
});

afterAll(async () => {
  demo.stop();
  await coordinator.drain();
  await rm(dataDir, { recursive: true, force: true });
});

interface ListedModel {
  readonly id: string;
  readonly service_type: string;
}

interface Batch {
  readonly label: string;
  readonly total: number;
  readonly queued: number;
  readonly processing: number;
  readonly processed: number;
  readonly failed: number;
  readonly canceled: number;
}

async function get<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${scene.members.Anna.secret}` };
  const response = await fetch(`${coordinator.address}${path}`, { headers });
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

async function models(): Promise<readonly ListedModel[]> {
  return (await get<{ data: readonly ListedModel[] }>('/v1/models')).data;
}

/** Waits until the online machines have connected. */
async function machinesOnline(): Promise<readonly ListedModel[]> {
  return until(async () => {
    const listed = await models();
    return ['llm', 'stt', 'image', 'tts', 'music'].every((type) =>
      listed.some(({ service_type: one }) => one === type),
    )
      ? listed
      : undefined;
  });
}

describe('a demo', () => {
  test('has models of every type that its machines serve, and those of no other', async () => {
    const ids = (await machinesOnline()).map(({ id }) => id);
    expect(ids).toContain('llama-3.1-8b-instruct');
    expect(ids).toContain('whisper-large-v3-turbo');
    // A model of the offline machine.
    expect(ids).not.toContain('mistral-small-24b-instruct');
  });

  test('has five machines, one of them offline since an hour', async () => {
    await machinesOnline();
    const rows = query<{ name: string; seen: number }>(
      { dataDir },
      'select name, last_seen_at as seen from providers',
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual([
      'attic',
      'gaming-pc',
      'living-room',
      'mac-mini',
      'workstation',
    ]);
    const agoMs = rows.map(({ name, seen }) => [name, Date.now() - seen] as const);
    const longAgo = agoMs.filter(([, ms]) => ms > DAY_MS / 48).map(([name]) => name);
    expect(longAgo).toEqual(['living-room']);
  });

  test('has a queue that moves: jobs end, and a batch goes on', async () => {
    const first = await until(async () => (await findBatch('Calendar for next year'))?.total);
    expect(first).toBeGreaterThan(20);
    const moved = await until(
      async () => {
        const batch = await findBatch('Calendar for next year');
        return batch !== undefined && batch.processed > 0 ? batch : undefined;
      },
      { timeoutMs: 20_000 },
    );
    const { total, queued, processing, processed, failed, canceled } = moved;
    expect(queued + processing + processed + failed + canceled).toBe(total);
    const { queued: waiting } = await get<{ queued: number }>('/api/inference/queue/summary');
    expect(waiting).toBeGreaterThan(0);
  }, 30_000);

  test('has a month of usage and days of jobs, in every state of their end', () => {
    const days = query<{ day: string }>({ dataDir }, 'select distinct day from usage_daily');
    expect(days.length).toBeGreaterThanOrEqual(29);
    const states = query<{ status: string; jobs: number }>(
      { dataDir },
      `select status, count(*) as jobs from jobs
       where finished_at < ${Date.now() - DAY_MS / 24} group by status`,
    );
    const byStatus = Object.fromEntries(states.map(({ status, jobs }) => [status, jobs]));
    expect(byStatus['PROCESSED']).toBeGreaterThan(30);
    expect(byStatus['FAILED']).toBeGreaterThan(1);
    expect(byStatus['CANCELED']).toBeGreaterThan(1);
    const energy = query<{ known: number; all: number }>(
      { dataDir },
      `select count(energy_j) as known, count(*) as "all" from usage where outcome = 'ok'`,
    );
    // Not on the machine with two cards, nor on the one whose card tells no power.
    expect(energy[0]?.known).toBeGreaterThan(100);
    expect(energy[0]?.known).toBeLessThan(energy[0]?.all ?? 0);
    const future = query({ dataDir }, `select 1 from usage where at > ${Date.now()}`);
    expect(future).toEqual([]);
  });

  test('has files of its past that can be fetched', async () => {
    const { data } = await get<{ data: readonly { url: string; content_type: string }[] }>(
      '/api/inference/assets?limit=100',
    );
    const types = new Set(data.map(({ content_type: type }) => type));
    expect([...types].toSorted()).toEqual(['audio/wav', 'image/png']);
    const picture = data.find(({ content_type: type }) => type === 'image/png');
    const bytes = await bytesOf(picture?.url ?? '');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  test('lets members without rights in, too', async () => {
    const response = await fetch(`${coordinator.address}/api/console/v1/session`, {
      method: 'POST',
      headers: { origin: coordinator.address, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ben@example.org', password: PASSWORD }),
    });
    expect(response.status).toBe(204);
  });
});

describe('its machines', () => {
  test('stream a chat in many pieces, with its tokens at the end', async () => {
    await machinesOnline();
    const stream = await client.chat.completions.create({
      model: 'llama-3.1-8b-instruct',
      messages: [
        { role: 'user', content: 'Explain what a context window is, in three sentences.' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      pieces.push(choices[0]?.delta.content ?? '');
      tokens += usage?.completion_tokens ?? 0;
    }
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.join('')).toMatch(/^A context window is how much text/);
    expect(tokens).toBeGreaterThan(40);
  });

  test('answer whole, no longer than asked for', async () => {
    const answer = await client.chat.completions.create({
      model: 'llama-3.1-8b-instruct',
      messages: [{ role: 'user', content: 'Anything' }],
      max_tokens: 10,
    });
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.choices[0]?.message.content?.trim().split(/\s+/)).toHaveLength(7);
  });

  test('fail where a picture does not fit the card', async () => {
    const size = '2048x2048' as '1024x1024';
    const model = 'stable-diffusion-xl-base-1.0';
    const painted = client.images.generate({ model, prompt: 'a', size });
    await expect(painted).rejects.toThrow(/502/);
  });

  test('speak, and hear words with their times', async () => {
    const input = 'Next stop, harbour square.';
    const model = 'kokoro-82m';
    const spoken = await client.audio.speech.create({ model, input, voice: 'af_heart' });
    const file = await toFile(spoken, 'speech.wav');
    const heard = await client.audio.transcriptions.create({
      model: 'whisper-large-v3-turbo',
      file,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(heard.words?.length).toBeGreaterThan(10);
    expect(heard.words?.at(-1)?.end).toBeCloseTo(heard.duration, 1);
    expect(heard.segments?.length).toBeGreaterThan(1);
  });

  test('let their owner pull, load, unload and delete models, and cancel a pull', async () => {
    const anna = await visitAgain(coordinator, 'anna@example.org', PASSWORD);
    const { id: provider = '' } = (await readMy(anna, 'provider.list', {}))[0] ?? {};
    const service = 'llm-llama';
    const library = async () => {
      const told = await readMy(anna, 'provider.models', { provider });
      return told.state === 'on' ? told : expect.unreachable(told.state);
    };
    const kept = async (name: string) =>
      (await library()).servers[0]?.models.find((one) => one.name === name);
    const wanted = await readMy(anna, 'model.wanted', {});
    expect(wanted[0]).toEqual({ model: 'qwen3-coder:30b', members: 4 });
    expect(await kept('llama-3.1-8b-instruct')).toMatchObject({ loaded: true, pulled_here: false });
    const wrong = { provider, service, model: 'hf.co/owner/model' };
    expect((await refusal(anna, 'provider.model-pull', wrong)).message).toContain('not the name');

    const large = { provider, service, model: 'qwen3:32b' };
    const { id: action } = await my(anna, 'provider.model-pull', large);
    await until(async () => ((await library()).activities[0]?.bytes ?? 0) > 0);
    expect(await my(anna, 'pull.cancel', { provider, action })).toMatchObject({
      state: 'canceled',
    });
    const small = { provider, service, model: 'smollm2:0.2b' };
    await until(async () => (await library()).activities.every(({ state }) => state !== 'running'));
    await my(anna, 'provider.model-pull', small);
    const isPulled = { loaded: false, pulled_here: true, can: ['load', 'delete'] };
    expect(await until(() => kept(small.model))).toMatchObject(isPulled);
    await until(async () => (await models()).some(({ id }) => id === small.model));
    await my(anna, 'provider.model-load', small);
    await until(async () => (await kept(small.model))?.loaded === true);
    await my(anna, 'provider.model-unload', small);
    await until(async () => (await kept(small.model))?.loaded === false);
    await my(anna, 'provider.model-delete', small);
    await until(async () => (await models()).every(({ id }) => id !== small.model));
    expect(await kept(small.model)).toBeUndefined();
    expect(await kept('qwen3:32b')).toBeUndefined();
  });

  test('are gone at once when the demo stops', async () => {
    expect(await models()).not.toEqual([]);
    demo.stop();
    await until(async () => (await models()).length === 0);
  });
});

async function findBatch(label: string): Promise<Batch | undefined> {
  const { data } = await get<{ data: readonly Batch[] }>('/v1/batches');
  return data.find((one) => one.label === label);
}

async function bytesOf(url: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${scene.members.Anna.secret}` };
  const response = await fetch(new URL(url, coordinator.address), { headers });
  expect(response.status, url).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}
