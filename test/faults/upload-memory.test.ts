/** Uploads through real processes: their memory, and their effect on chats. */
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunks } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { MIB, rssOf } from '../support/memory.js';
import { startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';

const LOAD = fileURLToPath(new URL('../support/upload-load.js', import.meta.url));
const SLOTS = 20;
const LARGEST = 26_214_400;
/** Pauses of the local server after each piece that it reads. */
const SLOW_MS = 2;
const SAMPLED_MS = 10;
/** Also by a server that reads as fast as it can. */
const FAST: [string, number][] = FULL ? [['reads as fast as it can', 0]] : [];

interface Load {
  /** All that it has printed. */
  readonly said: () => string;
  readonly ended: Promise<string>;
}

function startLoad(...args: readonly (string | number)[]): Load {
  const child = spawn(process.execPath, [LOAD, ...args.map(String)]);
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const ended = new Promise<string>((done) => child.once('close', () => done(said)));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { said: () => said, ended };
}

/** The address of a local server that waits this long after each piece that it reads. */
async function startListener(pauseMs: number): Promise<string> {
  const load = startLoad('listen', pauseMs);
  const origin = await until(() => /listening on (\S+)/.exec(load.said())?.[1]);
  return `${origin}/v1`;
}

const service = (type: string, base_url: string, model: string) => ({
  type,
  backend: 'openai',
  base_url,
  slots: SLOTS,
  models: [{ id: model }],
});

interface Callers {
  readonly count: number;
  readonly bytes: number;
  readonly times: number;
}

/** So many concurrent callers, each of whom uploads a file of this size so often. */
async function upload(gateway: ProcessGateway, { count, bytes, times }: Callers): Promise<void> {
  const said = await startLoad('send', gateway.url, gateway.key, count, bytes, times).ended;
  expect(JSON.parse(said)).toEqual(Array.from({ length: count * times }, () => 200));
}

/** The most memory that each process held while this was done. */
async function peaks(
  pids: readonly (number | undefined)[],
  act: () => Promise<void>,
): Promise<number[]> {
  const most = pids.map(() => 0);
  const over = act().then(() => true);
  while (!(await Promise.race([over, pause(SAMPLED_MS, false)]))) {
    const now = await Promise.all(pids.map(rssOf));
    for (const [i, bytes] of now.entries()) most[i] = Math.max(most[i] ?? 0, bytes);
  }
  return most;
}

/**
 * Only the cost of the file's size: as many bytes have passed before in small files. While a
 * program works, V8 lets some 30 MiB of dead buffers accumulate before it collects them, and so its
 * memory varies by that amount, whatever passes through it.
 */
describe.runIf(process.platform === 'linux')('25 MiB pass through', () => {
  it.each([['reads slowly', SLOW_MS], ...FAST])(
    'to a server that %s, and neither program grows by 16 MiB',
    async (_, pauseMs) => {
      const services = [service('stt', await startListener(pauseMs), 'plain')];
      const { gateway, coordinator } = await startProcessGateway(services);
      const agent = gateway.startAgent();
      await agent.online;
      const pids = [coordinator.child.pid, agent.child.pid];
      const small = { count: 1, bytes: MIB, times: 125 };
      const before = await peaks(pids, () => upload(gateway, small));
      const large = { count: 1, bytes: LARGEST, times: 4 };
      const after = await peaks(pids, () => upload(gateway, large));
      for (const [i, bytes] of after.entries()) {
        expect(bytes - (before[i] ?? 0)).toBeLessThan(16 * MIB);
      }
    },
    120_000,
  );
});

/** `npm run bench -- media` shows by how much tokens are late. */
it('a chat streams on while 20 files are uploaded at once', async () => {
  const behaviour = chunks({ count: 100_000, delayMs: 10 });
  const fake = await startFakeOpenAi({ models: ['tiny'], behaviour });
  onTestFinished(() => fake.close());
  const services = [
    service('llm', fake.baseUrl, 'tiny'),
    service('stt', await startListener(0), 'plain'),
  ];
  const { gateway } = await startProcessGateway(services);
  await gateway.startAgent().online;
  const messages = [{ role: 'user' as const, content: 'hello' }];
  const over = new AbortController();
  const stream = await gateway.client.chat.completions.create(
    { model: 'tiny', stream: true, messages },
    { signal: over.signal },
  );
  let begin = 0;
  let longestMs = 0;
  let last = performance.now();
  let uploading: Promise<void> | null = null;
  for await (const _ of stream) {
    const now = performance.now();
    if (uploading !== null) longestMs = Math.max(longestMs, now - last);
    last = now;
    if (uploading === null) {
      begin = now;
      const all = { count: SLOTS, bytes: FULL ? LARGEST : 5 * MIB, times: 1 };
      uploading = upload(gateway, all).finally(() => over.abort());
    }
  }
  await uploading;
  expect(begin).toBeGreaterThan(0);
  expect(longestMs).toBeLessThan((performance.now() - begin) / 2);
}, 180_000);
