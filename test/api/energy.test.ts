/** The energy of a request: told by its agent, held to what cards can take, shown to its caller. */
import { watchGpus } from '@inference-gateway/agent/hardware/gpu-watch';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { chunks, document } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { fakeNvidiaSmi } from '../support/fake-nvidia-smi.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectJobAgent, offerOf, resumedStream } from '../support/job-agent.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';
import { ask, readMy } from './console-calls.js';
import { ended, submitted } from './job-calls.js';
import { chat, post } from './requests.js';
import { visit } from './visitor.js';

/** As the fake `nvidia-smi` tells them. */
const WATTS = 25.5;
/** Two digits are told. */
const ROUNDED = 1.05;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openGateway({ breakerOpenMs: 0 });
});

afterAll(() => gateway.stop());

interface Row {
  readonly requestId: string;
  readonly energyJ: number | null;
  readonly totalMs: number;
  readonly outcome: string;
}

/** The row of a request, or of a job, whose id begins that of its row. */
function rowOf(id: string | null): Promise<Row> {
  const rows = () =>
    query<Row>(
      gateway,
      `select request_id as requestId, energy_j as energyJ, total_ms as totalMs, outcome
       from usage`,
    );
  return until(() => rows().find(({ requestId }) => requestId.split('.')[0] === id), {
    what: `the usage row of ${id}`,
  });
}

/** A model server on a machine with one card, which a real agent watches. */
async function serveWithCard(name: string): Promise<FakeModelServer> {
  const smi = await fakeNvidiaSmi();
  const gpu = watchGpus({ nvidiaSmi: smi.command });
  const fake = await startFakeOpenAi();
  onTestFinished(async () => {
    gpu.close();
    await fake.close();
  });
  await until(() => gpu.latest !== null);
  const agent = await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }], name, gpu });
  onTestFinished(() => agent.stop());
  return fake;
}

function expectEnergyOf(ranMs: number, { energyJ, totalMs }: Row): void {
  expect(energyJ).toBeGreaterThan((WATTS * ranMs) / 1_000 / ROUNDED);
  expect(energyJ).toBeLessThan((WATTS * (totalMs + 1) * ROUNDED) / 1_000);
}

describe('on a machine with one card', () => {
  it('a request has what the card took while it ran, which its caller alone sees', async () => {
    const fake = await serveWithCard('one');
    fake.once(document({ delayMs: 200 }));
    const response = await post(gateway, chat());
    await response.text();
    const id = response.headers.get('x-request-id') ?? '';
    const row = await rowOf(id);
    expectEnergyOf(200, row);
    const anna = await visit(gateway, 'anna@example.org');
    const one = await readMy(anna, 'usage.request', { request: id });
    expect(one.energy_j).toBe(row.energyJ);
    const { requests } = await readMy(anna, 'usage.recent', { limit: 1, after: null });
    expect(requests).toMatchObject([{ request_id: id, energy_j: row.energyJ }]);
    const ben = await visit(gateway, 'ben@example.org');
    expect((await ask(ben, ['my', 'usage.request'], { request: id })).status).toBe(404);
  });

  it('so does a job', async () => {
    const fake = await serveWithCard('two');
    fake.once(document({ delayMs: 200 }));
    const { id } = await submitted(gateway, { model: 'tiny' });
    await ended(gateway, id);
    expectEnergyOf(200, await rowOf(id));
  });

  it('and a stream whose caller leaves, until its run has stopped', async () => {
    const fake = await serveWithCard('three');
    fake.once(chunks({ count: 10_000, delayMs: 5 }));
    const leaving = new AbortController();
    const response = await post(gateway, chat({ stream: true }), { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    const row = await rowOf(response.headers.get('x-request-id'));
    expect(row.outcome).toBe('canceled');
    expect(row.energyJ).toBeGreaterThan(0);
  });
});

it('where no card is watched, it is unknown and not 0', async () => {
  const fake = await startFakeOpenAi({ models: ['cpu'] });
  const agent = await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }], name: 'nas' });
  const response = await post(gateway, chat({ model: 'cpu' }));
  await response.text();
  expect(await rowOf(response.headers.get('x-request-id'))).toMatchObject({ energyJ: null });
  await agent.stop();
  await fake.close();
});

describe('what an agent tells', () => {
  let agent: RawAgent;
  let tries = 0;

  /** An answer whose last message says so; its request id. */
  async function told(cost: Readonly<Record<string, unknown>>, inOneFrame = false) {
    const answering = post(gateway, chat({ model: 'm' }));
    const { stream } = await agent.nextOpen();
    if (inOneFrame) agent.answerInOneFrame(stream, DOCUMENT, cost);
    else {
      agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
      agent.data(stream, JSON.stringify(DOCUMENT));
      agent.sendText(JSON.stringify({ t: 'END', stream, ok: true, ...cost }));
    }
    const response = await answering;
    expect(response.status).toBe(200);
    return response.headers.get('x-request-id');
  }

  async function connect(name: string): Promise<void> {
    agent = await connectRawAgent(gateway.address, await gateway.anna.enroll(name), {
      instance_id: name,
    });
  }

  it.each([
    ['by an older version is unknown', {}, null],
    ['is stored', { energy_j: 0.01 }, 0.01],
    ['beside its usage is, too', { energy_j: 0.01, usage: DOCUMENT.usage }, 0.01],
    ['below nothing is dropped', { energy_j: -5 }, null],
    ['as nothing is dropped', { energy_j: 0 }, null],
    ['above what cards can take in that time is dropped', { energy_j: 1e12 }, null],
  ])('%s, and its answer is passed on', async (_, cost, energyJ) => {
    await connect(`raw-${tries++}`);
    const ids = [await told(cost), await told(cost, true)];
    for (const id of ids) expect(await rowOf(id)).toMatchObject({ outcome: 'ok', energyJ });
    expect(agent.closeCode).toBeNull();
    agent.socket.close();
    await agent.closed();
  });

  it('as a text ends its link, as every malformed message', async () => {
    await connect('malformed');
    const answering = post(gateway, chat({ model: 'm' }));
    const { stream } = await agent.nextOpen();
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    agent.sendText(JSON.stringify({ t: 'END', stream, ok: true, energy_j: '5' }));
    expect(await agent.closed()).toBe(4000);
    expect((await answering).status).toBe(502);
  });

  it('of a job that comes back over another link counts from its claim', async () => {
    const { agent: first, token } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await first.nextOpen();
    const since = performance.now();
    first.socket.terminate();
    await until(() => performance.now() - since > 300);
    const { agent: back } = await connectJobAgent(gateway, { token, resume: [offerOf(open)] });
    const stream = await resumedStream(back);
    back.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
    back.data(stream, JSON.stringify(DOCUMENT));
    // Of the 300 ms at 15 kW: more than the moments in which its answer was fetched allow.
    back.send({ t: 'END', stream, ok: true, energy_j: 4_500 });
    await ended(gateway, id);
    expect(await rowOf(id)).toMatchObject({ outcome: 'ok', energyJ: 4_500 });
  });
});
