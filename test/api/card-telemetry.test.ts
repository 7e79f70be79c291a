import type { CardReading } from '@inference-gateway/shared/protocol/messages';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { ask, my, readAdmin, readMy } from './console-calls.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

const BUSY = { use_percent: 97, memory_used_mib: 20_123, temperature_c: 71, power_watts: 313.5 };
const SILENT = { use_percent: null, memory_used_mib: null, temperature_c: null, power_watts: null };
const CARD = { name: 'NVIDIA GeForce RTX 4090', memory_mib: 24_576 };
const UNKNOWN = [CARD, CARD].map((card) => ({ ...card, ...SILENT }));

let gateway: TestGateway;
let anna: Visitor;
let ben: Visitor;
let ada: Visitor;
let token: string;
let provider: string;
let network: string;

beforeAll(async () => {
  gateway = await openGateway();
  const user = { email: 'ada@example.org', name: 'Ada', admin: true, password: null };
  await gateway.admin('user.create', user);
  anna = await visit(gateway, 'anna@example.org');
  ben = await visit(gateway, 'ben@example.org');
  ada = await visit(gateway, 'ada@example.org');
  token = await gateway.anna.enroll('den-pc');
  ({ id: network } = await gateway.admin('network.create', { name: 'club', owner: 'Anna' }));
  await gateway.admin('network.add', { network: 'club', member: 'Ben' });
  provider = (await readMy(anna, 'provider.list', {}))[0]?.id ?? '';
});

afterAll(() => gateway.stop());

function connected(): Promise<RawAgent> {
  const gpu = { name: CARD.name, vendor: 'NVIDIA', vram_mib: CARD.memory_mib, driver: null };
  return connectRawAgent(gateway.address, token, {
    host: { os: 'linux', arch: 'x64', gpus: [gpu, gpu] },
  });
}

function beat(agent: RawAgent, gpus?: CardReading[]): void {
  const told = gpus === undefined ? {} : { gpus };
  agent.send({ t: 'HEARTBEAT', seq: 1, slots: [], claims: [], accepts: 'all', ...told });
}

async function shown() {
  return (await readMy(anna, 'provider.show', { provider })).gpus;
}

it('what the cards do is told to their owner and to admins', async () => {
  const agent = await connected();
  expect(await shown()).toEqual(UNKNOWN);
  beat(agent, [BUSY, SILENT]);
  const gpus = [{ ...CARD, ...BUSY }, UNKNOWN[1]];
  await until(async () => (await shown())[0]?.use_percent === 97);
  expect(await shown()).toEqual(gpus);
  expect((await readMy(anna, 'provider.list', {}))[0]?.gpus).toEqual(gpus);
  expect((await readAdmin(ada, 'provider.list', {}))[0]?.gpus).toEqual(gpus);
  expect((await readAdmin(ada, 'provider.show', { provider })).gpus).toEqual(gpus);
});

it('a heartbeat that leaves it out takes it back, and so does the end of the link', async () => {
  const agent = await connected();
  beat(agent, [BUSY, BUSY]);
  await until(async () => (await shown())[1]?.use_percent === 97);
  beat(agent);
  await until(async () => (await shown())[1]?.use_percent === null);
  beat(agent, [BUSY, BUSY]);
  await until(async () => (await shown())[1]?.use_percent === 97);
  agent.socket.close();
  await until(async () => (await shown())[1]?.use_percent === null);
  expect(await shown()).toEqual(UNKNOWN);
});

it('one reading too few or too many is given to no other card', async () => {
  const agent = await connected();
  beat(agent, [BUSY]);
  await until(async () => (await shown())[0]?.use_percent === 97);
  expect(await shown()).toEqual([{ ...CARD, ...BUSY }, UNKNOWN[1]]);
  beat(agent, [SILENT, BUSY, BUSY]);
  await until(async () => (await shown())[1]?.use_percent === 97);
  expect(await shown()).toEqual([UNKNOWN[0], { ...CARD, ...BUSY }]);
});

it('another member never sees it, though the machine serves them', async () => {
  const agent = await connected();
  await my(anna, 'provider.share', { provider, network, ...WHOLE });
  beat(agent, [BUSY, BUSY]);
  await until(async () => (await shown())[0]?.use_percent === 97);
  expect(await (await ben.fetch('/v1/models')).text()).toContain('"m"');
  expect((await ask(ben, ['my', 'provider.show'], { provider })).status).toBe(404);
  for (const path of PATHS) {
    const response = await ben.fetch(path);
    expect(response.status, path).toBe(200);
    expect(await response.text(), path).not.toMatch(/temperature|20123|313\.5|use_percent/);
  }
});

const WHOLE = {
  service: null,
  model: null,
  user: null,
  slots: null,
  hours: null,
  time_zone: null,
  max_tokens: null,
};

const PATHS = [
  '/v1/models',
  '/api/inference/queue/summary',
  ...['provider.list', 'network.list', 'home.show', 'share.received'].map(
    (name) => `/api/console/v1/my/${name}`,
  ),
];

it('a reading that cannot be ends the link', async () => {
  const agent = await connected();
  beat(agent, [{ ...BUSY, use_percent: 1e9 }]);
  expect(await agent.closed()).toBe(4000);
  expect(await shown()).toEqual(UNKNOWN);
});
