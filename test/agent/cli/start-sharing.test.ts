import { settleSharing } from '@inference-gateway/agent/cli/start-sharing';
import type { SharingFlags } from '@inference-gateway/agent/cli/start-sharing';
import { toService } from '@inference-gateway/agent/config/services';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/until.js';
import { deadOrigin } from './agent-program.js';
import { LLM, sharingHome, TTS } from './sharing-home.js';
import type { SharingHome } from './sharing-home.js';

function start({ home }: SharingHome, ...flags: string[]) {
  return home.start(['start', '--config', home.configFile, ...flags]);
}

test('start --share --yes shares each configured service, once', async () => {
  const stage = await sharingHome();
  const first = start(stage, '--share', 'friends', '--yes');
  await first.printed(/online as (\S+)/);
  const rows = await stage.shared();
  expect(rows).toMatchObject([
    { service_id: 'chat', model: null, network: 'friends' },
    { service_id: 'voice', model: null, network: 'friends' },
  ]);
  expect(first.output.stderr).toContain('Shared: chat with friends.');
  first.child.kill('SIGTERM');
  await first.finished;
  const again = start(stage, '--share', 'FRIENDS', '--yes');
  await again.printed(/online as (\S+)/);
  expect(await stage.shared()).toEqual(rows);
  expect(again.output.stderr).not.toContain('Shared:');
});

test('a share that is there keeps its caps, and what all has needs no other', async () => {
  const stage = await sharingHome();
  await stage.agent('services share chat --network friends --slots 1');
  const first = start(stage, '--share', 'friends', '--yes');
  await first.printed(/online as (\S+)/);
  const rows = await stage.shared();
  expect(rows).toMatchObject([
    { service_id: 'chat', slots: 1 },
    { service_id: 'voice', slots: null },
  ]);
  first.child.kill('SIGTERM');
  await first.finished;
  await stage.agent('services unshare all');
  await stage.agent('services share all --network friends --slots 2');
  const second = start(stage, '--share', 'friends', '--yes');
  await second.printed(/online as (\S+)/);
  expect(await stage.shared()).toMatchObject([{ service_id: null, slots: 2 }]);
});

test('off a terminal, start --share without --yes is a usage error; nothing is asked', async () => {
  const stage = await sharingHome();
  const { code, stdout, stderr } = await start(stage, '--share', 'friends').finished;
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('nobody can be asked here: add --yes');
  expect(await stage.shared()).toEqual([]);
  const plain = start(stage);
  await plain.printed(/online as (\S+)/);
  // The log's own lines may ask "Is it running?" about a local server.
  const printed = plain.output.stderr.split('\n').filter((line) => !line.startsWith('{'));
  expect(printed.join('\n')).not.toContain('?');
  expect(await stage.shared()).toEqual([]);
  expect(existsSync(`${stage.home.configFile}.state/share-answer.json`)).toBe(false);
});

test('an unknown network ends the start before it serves', async () => {
  const stage = await sharingHome();
  const { code, stdout, stderr } = await start(stage, '--share', 'frends', '--yes').finished;
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toContain('Did you mean friends?');
});

test('a coordinator that is away keeps no agent from starting: it shares later', async () => {
  const stage = await sharingHome();
  const { home, gateway } = stage;
  const { port } = new URL(gateway.address);
  const config = { url: await deadOrigin(), services: [LLM, TTS] };
  await home.writeConfig(config);
  const waiting = start(stage, '--share', 'friends', '--yes');
  await until(() => waiting.output.stderr.includes('Nothing is shared yet: the coordinator at'));
  await relay(new URL(config.url).port, port);
  await waiting.printed(/online as (\S+)/);
  await until(async () => (await stage.shared()).length === 2);
});

test('who is not enrolled is told that, whatever is to be shared', async () => {
  const stage = await sharingHome();
  await rm(`${stage.home.configFile}.token`);
  expect((await start(stage, '--share', 'friends', '--yes').finished).code).toBe(4);
});

/** A start on a terminal, with these lines typed; returns its output. */
async function onTerminal(
  { gateway, home }: SharingHome,
  typed: string,
  flags: SharingFlags = {},
): Promise<string> {
  const token = (await readFile(`${home.configFile}.token`, 'utf8')).trim();
  const services = [LLM, TTS].map((entry) => toService(entry, null));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const shown = text(output);
  input.end(typed);
  const later = await settleSharing({
    coordinator: { url: gateway.address, token },
    services,
    flags,
    stateDir: `${home.configFile}.state`,
    streams: { input, output },
  });
  await later();
  output.end();
  return shown;
}

test('a first start on a terminal asks what to share, and does it', async () => {
  const stage = await sharingHome();
  const shown = await onTerminal(stage, '2\ny\n');
  expect(shown).toContain('chat  llm at http://127.0.0.1:9/v1: it does not answer now');
  expect(await stage.shared()).toMatchObject([{ service_id: 'voice', network: 'friends' }]);
  await stage.agent('services unshare all');
  expect(await onTerminal(stage, 'all\ny\n')).toBe('');
  expect(await stage.shared()).toEqual([]);
});

test('an owner who keeps everything private is not asked again', async () => {
  const stage = await sharingHome();
  expect(await onTerminal(stage, '\n')).toContain('Enter keeps everything private');
  expect(await onTerminal(stage, 'all\ny\n')).toBe('');
  expect(await stage.shared()).toEqual([]);
});

test.each([
  ['a machine that shares something', 'services share chat --network friends', {}],
  ['a start that is to ask nothing', 'services list', { yes: true }],
  ['the demo', 'services list', { demo: true }],
])('%s is not asked about', async (_, before, flags) => {
  const stage = await sharingHome();
  await stage.agent(before);
  const rows = await stage.shared();
  expect(await onTerminal(stage, 'all\ny\n', flags)).toBe('');
  expect(await stage.shared()).toEqual(rows);
});

test('an owner who is in no network has nobody to share with, and may be asked later', async () => {
  const stage = await sharingHome();
  await stage.gateway.admin('network.delete', { network: 'friends' });
  expect(await onTerminal(stage, 'all\ny\n')).toBe('');
  await stage.gateway.admin('network.create', { name: 'family', owner: 'Anna' });
  expect(await onTerminal(stage, 'all\ny\n')).toContain('With family');
  expect(await stage.shared()).toHaveLength(2);
});

test('start --share on a terminal shares after a yes, and asks again after a no', async () => {
  const stage = await sharingHome();
  const share = { share: 'friends' };
  expect(await onTerminal(stage, '\n', share)).toContain('Share chat, voice with friends? [y/N] ');
  expect(await stage.shared()).toEqual([]);
  await onTerminal(stage, 'y\n', share);
  expect(await stage.shared()).toHaveLength(2);
  expect(await onTerminal(stage, 'y\n', share)).toBe('');
});

/** The coordinator comes back at the address that was dead. */
async function relay(port: string, target: string): Promise<void> {
  const server = createServer((near) => {
    const far = connect(Number(target), '127.0.0.1');
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
    onTestFinished(() => void near.destroy());
  });
  await new Promise<void>((done) => server.listen(Number(port), '127.0.0.1', done));
  onTestFinished(() => void server.close());
}
