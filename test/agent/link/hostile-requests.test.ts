/**
 * Requests that a hostile coordinator, or hostile callers, cannot make an agent send to a local
 * server, and addresses to which they cannot make it connect.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { startProgram } from '../../support/program.js';
import { until } from '../../support/until.js';
import { agentHome } from '../cli/agent-program.js';
import { jobStage } from './job-stage.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';
import type { ScriptedLink } from './scripted-coordinator.js';

type Opening = Parameters<ScriptedLink['open']>;

const SYNC = { kind: 'sync' } as const;
const CHAT = { model: 'tiny', messages: [{ role: 'user', content: 'hi' }] };

async function stage() {
  const { coordinator, server, startAgent } = await jobStage();
  const image = await startFakeOpenAi({ models: ['painter'] });
  onTestFinished(() => image.close());
  const services = [
    configuredServer(server.baseUrl, { slots: 2 }),
    configuredServer(image.baseUrl, { id: 'image-1', type: 'image' }),
    configuredServer(server.baseUrl, { id: 'mine', foreign: false }),
  ];
  await startAgent({ services });
  const link = await coordinator.link(0);
  let stream = 0;
  async function ask(changes: Opening[1], body: unknown = CHAT): Promise<unknown> {
    link.open(++stream, { ...SYNC, ...changes }, JSON.stringify(body));
    return link.lastWord(stream);
  }
  return { link, ask, server, image, answer: () => JSON.parse(link.answer(stream)) as unknown };
}

test.each<[string, Opening[1], string]>([
  ['a model that is not advertised', { model: 'secret' }, 'no_model'],
  ['a path in the place of a model', { model: '../../v1/models' }, 'no_model'],
  ['a service that is not configured', { service_id: 'llm-2' }, 'no_model'],
  ['an address in the place of a service', { service_id: 'http://10.0.0.1' }, 'no_model'],
  ['an endpoint of another type', { endpoint: 'images' }, 'type_mismatch'],
  [
    'others’ work for what is the owner’s alone',
    { service_id: 'mine', caller: { name: 'Ben', own: false } },
    'paused',
  ],
  ['a file where there is none', { parts: [part('file', 'audio/wav')] }, 'bad_request'],
  ['a body that no coordinator lets through', { body: { bytes: 2 ** 40 } }, 'bad_request'],
])('%s is refused before a byte is read', async (...[, changes, reason]) => {
  const { ask, server, image } = await stage();
  expect(await ask(changes)).toMatchObject({ t: 'REJECT', reason });
  expect([...server.requests, ...image.requests]).toEqual([]);
});

test('an endpoint that does not exist ends the link', async () => {
  const { link, server } = await stage();
  const invented: unknown = 'shutdown';
  link.open(1, { ...SYNC, endpoint: invented as 'chat' });
  await until(() => link.isClosed);
  expect(server.requests).toEqual([]);
});

test('fields that name a path, a URL or a header are nothing to it', async () => {
  const { ask, server } = await stage();
  const elsewhere = {
    url: 'http://10.0.0.1/',
    base_url: 'http://10.0.0.1/',
    path: '/api/delete',
    method: 'DELETE',
    headers: { host: '10.0.0.1', authorization: 'Bearer stolen', 'x-evil': '1' },
  };
  expect(await ask(elsewhere as Opening[1])).toMatchObject({ t: 'END' });
  const [request] = server.requests;
  expect(server.requests).toHaveLength(1);
  expect(request?.path).toBe('/v1/chat/completions');
  const names = Object.keys(request?.headers ?? {}).toSorted();
  const ours = ['accept-encoding', 'connection', 'content-length', 'content-type', 'host'];
  expect(names).toEqual(ours);
  expect(request?.headers.host).toBe(new URL(server.origin).host);
});

test('the local server is asked for the model that was let in, not for the body’s', async () => {
  const { ask, server } = await stage();
  await ask({}, { ...CHAT, model: 'secret' });
  expect(server.lastRequest.body['model']).toBe('tiny');
});

const ADDRESSES = [
  'http://127.0.0.1/secret',
  'https://example.org/a.png',
  'file:///etc/passwd',
  '//10.0.0.1/a.png',
  '/etc/passwd',
];

test.each(ADDRESSES)('media at %s are refused, wherever a chat names them', async (url) => {
  const { ask, server, answer } = await stage();
  const contents = [
    [{ type: 'image_url', image_url: { url } }],
    [{ type: 'image_url', image_url: url }],
    [{ type: 'video_url', video_url: { url } }],
    [{ type: 'input_audio', input_audio: { url } }],
    [{ type: 'text', text: 'hi', nested: [{ deep: { image_url: { url } } }] }],
  ];
  for (const content of contents) {
    for (const role of ['user', 'assistant', 'tool']) {
      await ask({}, { model: 'tiny', messages: [{ role, content }] });
      expect(answer()).toMatchObject({ error: { code: 'unsupported_value' } });
    }
  }
  expect(server.requests).toEqual([]);
});

test.each(ADDRESSES)('and so are they in a request for an image: %s', async (url) => {
  const { ask, image, answer } = await stage();
  for (const field of ['image', 'init_image', 'reference_images', 'imageUrl']) {
    const asked = { endpoint: 'images', service_id: 'image-1', model: 'painter' } as const;
    await ask(asked, { model: 'painter', prompt: 'a', [field]: url });
    expect(answer()).toMatchObject({ error: { code: 'unsupported_value' } });
  }
  expect(image.requests).toEqual([]);
});

test.each<[string, unknown]>([
  ['a list', []],
  ['a text', 'text'],
  ['nothing', null],
])('a body that is %s ends that work alone', async (_what, body) => {
  const { ask, server } = await stage();
  expect(await ask({}, body)).toMatchObject({ t: 'RESET', code: 'INTERNAL' });
  expect(server.requests).toEqual([]);
  expect(await ask({})).toMatchObject({ t: 'END' });
});

test('more bytes than were announced go nowhere', async () => {
  const { link, ask, server } = await stage();
  link.open(900, { ...SYNC, body: { bytes: 2 } }, `{}${'x'.repeat(1_000)}`);
  await link.lastWord(900);
  expect(server.requests.map(({ text }) => text)).toEqual(['{"model":"tiny"}']);
  expect(await ask({})).toMatchObject({ t: 'END' });
});

test('a flood of work is refused as soon as the slots are taken', async () => {
  const { link, server } = await stage();
  server.behave(() => undefined);
  for (let stream = 1; stream <= 2_000; stream++) link.open(stream, SYNC);
  await until(() => link.all('REJECT').length === 1_998);
  expect(new Set(link.all('REJECT').map(({ reason }) => reason))).toEqual(new Set(['busy']));
  await until(() => server.requests.length === 2);
});

test('it connects to its coordinator and its local servers, and to nothing else', async () => {
  const local = await startFakeOpenAi({ models: ['tiny'] });
  onTestFinished(() => local.close());
  const bait = await closedBait();
  const coordinator = await new ScriptedCoordinator().listen();
  const home = await agentHome();
  const llm = { type: 'llm', backend: 'openai', base_url: local.baseUrl, id: 'llm-1' };
  await home.enrolAt(coordinator.origin, [llm]);
  const log = join(home.folder, 'connections');
  const file = new URL('../../support/record-connections.js', import.meta.url);
  const env = { HOME: home.folder, XDG_CONFIG_HOME: home.folder, PATH: home.folder };
  const args = ['start', '--config', home.configFile];
  const agent = startProgram('gateway-agent', args, { script: { file, args: [log] }, env });
  const link = await coordinator.link(0);
  const url = `${bait}/a.png`;
  const content = [{ type: 'image_url', image_url: { url } }];
  const bodies = [CHAT, { model: 'tiny', messages: [{ role: 'user', content }] }, { ...CHAT, url }];
  for (const [index, body] of bodies.entries()) {
    const changes = { ...SYNC, url, headers: { host: bait } } as Opening[1];
    link.open(index + 1, changes, JSON.stringify(body));
    await link.lastWord(index + 1);
  }
  const lines = new Set((await readFile(log, 'utf8')).trim().split('\n'));
  const wanted = [coordinator.origin, local.origin].map((origin) => new URL(origin).host);
  const met = [...lines].filter((line) => line.startsWith('connect '));
  expect(met.toSorted()).toEqual(wanted.map((host) => `connect ${host}`).toSorted());
  const rest = [...lines].filter((line) => !line.startsWith('connect ') && line !== 'socket');
  // Tools that probe graphics cards and convert sounds, found or not; no name is looked up.
  for (const line of rest) expect(line).toMatch(TOOLS);
  agent.child.kill();
  await agent.finished;
});

const TOOLS = /^start .*(?:nvidia-smi|ioreg|graphics-process\.js|ffmpeg)/;

/** Paths that no request may reach. */
async function closedBait(): Promise<string> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    expect(seen).toEqual([]);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function part(name: string, type: string): { name: string; content_type: string; bytes: number } {
  return { name, content_type: type, bytes: 1 };
}
