/** Calls at one coordinator for agents that are linked to another one. */
import type { Config } from '@inference-gateway/coordinator/config/config';
import { setTimeout as sleep } from 'node:timers/promises';
import { toFile } from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startPair, onlineAt } from '../support/cluster-pair.js';
import type { Pair, PairedNode } from '../support/cluster-pair.js';
import { chunks, document } from '../support/fake-behaviours.js';
import { sha256Of, startFakeMedia } from '../support/fake-media-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { sendJson } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { picture } from '../support/pictures.js';
import { usePostgres } from '../support/postgres.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import { parsePrometheus, valueOf } from '../support/prometheus-text.js';
import { tone } from '../support/sound.js';
import { until } from '../support/until.js';

const server = usePostgres();
const MESSAGES = [{ role: 'user' as const, content: 'hello' }];
const CALL = { model: 'm', messages: MESSAGES };
/** Callers at the other coordinator, who call again at once. */
const RUSH = 6;

async function newPair(settings: Partial<Config> = {}): Promise<Pair> {
  const databaseUrl = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(databaseUrl));
  return startPair(databaseUrl, settings);
}

async function newServer(): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  return fake;
}

const serviceOf = ({ origin }: FakeModelServer) => ({ baseUrl: `${origin}/v1`, slots: 2 });

async function ask(node: PairedNode, content: string): Promise<void> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json' };
  const response = await node.fetch('/v1/chat/completions', { method: 'POST', headers, body });
  expect(response.status).toBe(200);
  await response.text();
}

describe('a call for an agent of another coordinator', () => {
  test('is answered whole, as a document and as a stream, and metered where it came', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    const { choices, usage } = await pair.client.chat.completions.create(CALL);
    expect(choices[0]?.message.content).toBe('Hello from the fake.');
    expect(usage?.prompt_tokens).toBe(7);
    fake.once(chunks({ count: 40 }));
    let text = '';
    for await (const { choices: some } of await pair.client.chat.completions.create({
      ...CALL,
      stream: true,
    })) {
      text += some[0]?.delta.content ?? '';
    }
    expect(text).toBe(Array.from({ length: 40 }, (_, i) => `c${i} `).join(''));
    const used = { user: 'anna@example.org', limit: 10, after: null };
    const requests = await until(async () => {
      const recent = await pair.far.admin('usage.recent', used);
      return recent.requests.length === 2 && recent.requests;
    });
    const row = { provider: 'Anna/den-pc', outcome: 'ok', prompt_tokens: 7 };
    expect(requests).toMatchObject([row, row]);
  });

  test('is told its energy over the hop, in one frame or in several', async () => {
    const pair = await newPair();
    const owner = { owner: 'anna@example.org', name: 'raw', expires_in_s: 600, replace: null };
    const { token: joinToken } = await pair.near.admin('token.create', owner);
    const headers = {
      authorization: `Bearer ${joinToken}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ name: 'raw' });
    const enrolled = await fetch(`${pair.far.address}/agent/v1/enroll`, {
      method: 'POST',
      headers,
      body,
    });
    const { token } = (await enrolled.json()) as { token: string };
    const agent = await connectRawAgent(pair.far.address, token);
    await until(async () => (await onlineAt(pair.near)).includes('raw'));
    const answers = [
      (stream: number) => agent.answerInOneFrame(stream, DOCUMENT, { energy_j: 0.02 }),
      (stream: number) => {
        agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
        agent.data(stream, JSON.stringify({ ...DOCUMENT, id: 'x'.repeat(20_000) }));
        agent.send({ t: 'END', stream, ok: true, energy_j: 0.03 });
      },
      // More than cards can take in that time: the coordinator of the caller drops it.
      (stream: number) => agent.answerInOneFrame(stream, DOCUMENT, { energy_j: 1e12 }),
    ];
    for (const answerOn of answers) {
      const asking = pair.client.chat.completions.create(CALL);
      answerOn((await agent.nextOpen()).stream);
      await asking;
    }
    const used = { user: 'anna@example.org', limit: 10, after: null };
    const requests = await until(async () => {
      const recent = await pair.near.admin('usage.recent', used);
      return recent.requests.length === 3 ? recent.requests : null;
    });
    expect(requests.map(({ energy_j: joules }) => joules)).toEqual([null, 0.03, 0.02]);
  });

  test('is counted at both ends, whose metrics have their names', async () => {
    const fake = await newServer();
    const token = 'scrape-me-0123456789';
    const pair = await newPair({ metricsToken: token });
    await pair.startAgent([serviceOf(fake)]);
    await pair.client.chat.completions.create(CALL);
    const scrape = async ({ address }: PairedNode) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${address}/metrics`, { headers });
      return parsePrometheus(await response.text());
    };
    for (const [node, peer, direction] of [
      [pair.near, 'far', 'out'],
      [pair.far, 'near', 'in'],
    ] as const) {
      const found = await scrape(node);
      const other = direction === 'in' ? 'out' : 'in';
      expect(new Set(found.samples.map(({ labels }) => labels['node']))).toEqual(
        new Set([node.name]),
      );
      expect(valueOf(found, 'gateway_node_links', { peer })).toBe(1);
      expect(valueOf(found, 'gateway_relayed_calls_total', { direction })).toBe(1);
      expect(valueOf(found, 'gateway_relayed_calls_total', { direction: other })).toBe(0);
    }
    await pair.far.stop();
    const found = await until(async () => {
      const now = await scrape(pair.near);
      return valueOf(now, 'gateway_node_links') === null ? now : null;
    });
    expect(valueOf(found, 'gateway_jobs', { node: 'near' })).toBe(0);
  });

  test('fails as the provider fails', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    fake.once((_, response) => {
      const message = 'the context is too long';
      sendJson(response, 400, { error: { message, code: 'context_length_exceeded' } });
    });
    await expect(pair.client.chat.completions.create(CALL)).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    fake.behave((_, response) => sendJson(response, 500, { error: { message: 'broken' } }));
    await expect(pair.client.chat.completions.create(CALL)).rejects.toMatchObject({
      status: 502,
      code: 'provider_error',
    });
  });

  test('takes its files along, and brings files back', async () => {
    const fake = await startFakeMedia();
    onTestFinished(() => fake.close());
    const studio = await newServer();
    const data = [{ b64_json: picture().toString('base64') }];
    studio.behave((_, response) => sendJson(response, 200, { created: 1, data }));
    const pair = await newPair();
    const images = { ...serviceOf(studio), type: 'image' } as const;
    await pair.startAgent([fake.service('stt', { whisper: [] }), { ...images, id: 'image-0' }]);
    const wav = tone(20);
    expect(wav.length).toBeGreaterThan(512 * 1024);
    await pair.client.audio.transcriptions.create({
      model: 'whisper',
      file: await toFile(wav, 'tone.wav'),
    });
    expect(fake.last.files).toMatchObject([{ bytes: wav.length, sha256: sha256Of(wav) }]);
    const drawn = await pair.client.images.generate({
      model: 'm',
      prompt: 'a fox',
      response_format: 'b64_json',
    });
    // Without its metadata.
    expect(drawn.data?.[0]?.b64_json).toMatch(/^iVBORw0KGgo/);
    const listed = await pair.near.fetch('/api/inference/assets');
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(1);
  });

  test('stops on the card when its caller leaves', async () => {
    const fake = await newServer();
    fake.behave(chunks({ count: 10_000, delayMs: 5 }));
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    const leaving = new AbortController();
    const stream = await pair.client.chat.completions.create(
      { ...CALL, stream: true },
      { signal: leaving.signal },
    );
    await stream[Symbol.asyncIterator]().next();
    leaving.abort();
    await until(() => fake.lastRequest.abortedAt !== null, { timeoutMs: 5_000 });
    // Its slots are free again at both.
    fake.behave(document());
    for (let i = 0; i < 4; i++) {
      expect((await pair.client.chat.completions.create(CALL)).choices).toHaveLength(1);
    }
  });

  test('waits for a slot that calls of both coordinators share', async () => {
    const fake = await newServer();
    let [running, most] = [0, 0];
    fake.behave(async (request, response) => {
      running += 1;
      most = Math.max(most, running);
      await document({ delayMs: 30 })(request, response);
      running -= 1;
    });
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? pair.near : pair.far, 'hello')),
    );
    expect(most).toBe(2);
  });

  test('waits for a model server that takes nothing now, like a call without the hop', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([{ ...serviceOf(fake), slots: 1 }]);
    const endAt = performance.now() + 3_000;
    const answer = document();
    fake.behave(async (request, response) => {
      if (performance.now() > endAt) return answer(request, response);
      return sendJson(response, 503, { error: { message: 'loading' } });
    });
    await ask(pair.near, 'hello');
    // Twice a second, and not as often as the link lets it.
    expect(fake.requests.length).toBeLessThan(15);
  });

  test('has its turn when every slot is taken, wherever the others wait', async () => {
    const fake = await newServer();
    fake.behave(document({ delayMs: 20 }));
    const pair = await newPair();
    await pair.startAgent([{ ...serviceOf(fake), slots: 1 }]);
    const over = new AbortController();
    const rush = async (): Promise<void> => {
      while (!over.signal.aborted) await ask(pair.far, 'far');
    };
    const rushing = Promise.all(Array.from({ length: RUSH }, rush));
    await until(() => fake.requests.length > 2 * RUSH);
    const waits: number[] = [];
    for (let call = 0; call < 5; call += 1) {
      const before = fake.requests.length;
      await ask(pair.near, `near ${call}`);
      const isIts = ({ body }: { body: unknown }) => JSON.stringify(body).includes(`near ${call}`);
      waits.push(fake.requests.findIndex(isIts) - before);
    }
    over.abort();
    await rushing;
    // Those that waited before it, and who came while it was under way.
    expect(Math.max(...waits)).toBeLessThan(2 * RUSH);
  });

  test('that waits no more leaves its turn to others', async () => {
    const fake = await newServer();
    fake.behave(document({ delayMs: 300 }));
    const pair = await newPair();
    await pair.startAgent([{ ...serviceOf(fake), slots: 1 }]);
    const leaving = new AbortController();
    const long = pair.client.chat.completions.create(CALL);
    await until(() => fake.requests.length === 1);
    const { signal } = leaving;
    const waiting = Array.from({ length: 8 }, async () => {
      await expect(pair.client.chat.completions.create(CALL, { signal })).rejects.toThrow();
    });
    await sleep(100);
    leaving.abort();
    await Promise.all(waiting);
    fake.behave(document());
    await long;
    for (let call = 0; call < 4; call += 1) await pair.client.chat.completions.create(CALL);
    expect(fake.requests).toHaveLength(5);
  });

  test('ends in the typed error if that coordinator stops, and the agent is offline', async () => {
    const fake = await newServer();
    fake.behave(chunks({ count: 10_000, delayMs: 5 }));
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    const stream = await pair.client.chat.completions.create({ ...CALL, stream: true });
    const read = async (): Promise<void> => {
      for await (const _ of stream) continue;
    };
    const reading = expect(read()).rejects.toMatchObject({ code: 'provider_disconnected' });
    await until(() => fake.requests.length === 1);
    await pair.far.stop();
    await reading;
    expect(await onlineAt(pair.near)).toEqual([]);
  });
});

describe('a job', () => {
  test('runs where the agent is, and its end is known where it was submitted', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    const submit = async (): Promise<string> => {
      const body = JSON.stringify({ ...CALL, async: true });
      const headers = { 'content-type': 'application/json' };
      const response = await pair.near.fetch('/v1/chat/completions', {
        method: 'POST',
        headers,
        body,
      });
      return ((await response.json()) as { id: string }).id;
    };
    const statusOf = async (id: string): Promise<string> => {
      const response = await pair.near.fetch(`/v1/jobs/${id}`);
      return ((await response.json()) as { status: string }).status;
    };
    const id = await submit();
    await until(async () => (await statusOf(id)) === 'PROCESSED');
    // Canceled at one coordinator, stopped at the other.
    fake.behave(chunks({ count: 10_000, delayMs: 5 }));
    const long = await submit();
    await until(() => fake.requests.length === 2);
    await pair.near.fetch(`/v1/jobs/${long}/cancel`, { method: 'POST' });
    await until(() => fake.lastRequest.abortedAt !== null, { timeoutMs: 5_000 });
    expect(await statusOf(long)).toBe('CANCELED');
  });
});

describe('an administrator', () => {
  test('closes the link of an agent through any coordinator', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    const since = async (): Promise<number | null> => {
      const shown = await pair.far.admin('provider.show', { provider: 'den-pc' });
      return shown.connected_at;
    };
    const before = await since();
    await pair.near.admin('provider.kick', { provider: 'den-pc' });
    await until(async () => ((await since()) ?? 0) > (before ?? 0));
    await until(async () => (await onlineAt(pair.near)).includes('den-pc'));
  });

  test('ends what another coordinator serves by ending the share', async () => {
    const fake = await newServer();
    const pair = await newPair();
    await pair.startAgent([serviceOf(fake)]);
    await pair.near.admin('provider.remove', { provider: 'den-pc' });
    await until(async () => (await onlineAt(pair.far)).length === 0);
    await expect(pair.client.chat.completions.create(CALL)).rejects.toMatchObject({ status: 404 });
  });
});
