/**
 * How long the largest accepted JSON bodies block other callers: short requests are sent one after
 * the other to the coordinator and to the agent, and the longest of them shows the longest block of
 * the event loop.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { onGrounds } from '../grounds.js';
import { BENCH_MODEL } from '../load/job.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import type { Subject } from '../subjects/subject.js';
import { formatNumber, table } from '../table.js';

const FULL_ROUNDS = 5;
const CHAT = '/v1/chat/completions';
/** Answered without the store, an agent or a key. */
const SHORT = '/healthz';
const SHORT_AT_HOME = '/readyz';
const SHORT_REQUESTS = new URL('./short-requests.js', import.meta.url);
const MIB = 1024 * 1024;

/** Each of them at one limit of `shared/json/scan.ts`, or at that of bytes. */
const BODIES: Readonly<Record<string, () => string>> = {
  'nothing else': () => '',
  '30 MiB of one text': () => chat(`"${'x'.repeat(30 * MIB)}"`),
  '30 MiB of escapes': () => chat(`"${'\\n'.repeat(15 * MIB)}"`),
  '290,000 texts': () => chat(`[${many(290_000, '"a text"')}]`),
  '290,000 objects': () => chat(`[${many(290_000, '{}')}]`),
  '280,000 names': () => chat(`[${many(28, `{${names(9_900)}}`)}]`),
  '1,900,000 numbers': () => chat(`[${many(1_900_000, '0.12345678')}]`),
  'refused at its limit: objects': () => chat(`[${many(5_000_000, '{}')}]`),
};

export function bodies(options: BenchOptions): Promise<Samples> {
  return onGrounds(options, { llm: 8 }, async ({ subjects }) => {
    const samples = new Samples(Object.keys(BODIES));
    const gateway = subjects.find(({ name }) => name === 'gateway');
    if (gateway === undefined) return samples;
    // One after the other: each of them keeps a core busy.
    const urls = {
      longest: new URL(SHORT, gateway.origin),
      'longest at home': new URL(SHORT_AT_HOME, gateway.home),
    };
    for (let round = 0; round < (options.quick ? 1 : FULL_ROUNDS); round++) {
      options.say(`round ${round + 1}`);
      for (const [name, make] of Object.entries(BODIES)) {
        const body = make();
        for (const [metric, url] of Object.entries(urls)) {
          await measure(samples, gateway, { name, body, metric, url });
        }
      }
    }
    return samples;
  });
}

const METRICS = ['longest', 'longest at home', 'answer'];

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`;
  const rows = samples.subjects.map((name) => [
    name,
    ...METRICS.map((metric) => formatNumber(samples.median(name, metric), 0)),
  ]);
  const heading = [
    'While it is read',
    'coordinator longest ms',
    'agent longest ms',
    'its answer ms',
  ];
  return `bodies: ${machine}\n\n${table(heading, rows)}`;
}

interface Measured {
  readonly name: string;
  readonly body: string;
  readonly metric: string;
  readonly url: URL;
}

/** `nothing else` measures the short requests alone, for half a second. */
async function measure(
  samples: Samples,
  target: Subject,
  { name, body, metric, url }: Measured,
): Promise<void> {
  const bytes = Buffer.from(body);
  const asking = await askShort(url);
  const sentAt = performance.now();
  if (body === '') await pause(500);
  else await post(target, bytes);
  samples.add(name, 'answer', performance.now() - sentAt);
  samples.add(name, metric, await longestOf(asking));
}

async function askShort({ href: url }: URL): Promise<Worker> {
  const asking = new Worker(SHORT_REQUESTS, { workerData: { url } });
  await once(asking, 'online');
  return asking;
}

async function longestOf(asking: Worker): Promise<number> {
  const told = once(asking, 'message');
  // A thread, not a window.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  asking.postMessage('over');
  const [longest] = (await told) as [number];
  return longest;
}

function post({ origin, headers }: Subject, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(CHAT, origin), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    sent.once('response', (response) => response.resume().once('close', resolve));
    sent.once('error', reject);
    sent.end(body);
  });
}

function chat(padding: string): string {
  const head = JSON.stringify({ model: BENCH_MODEL, messages: [{ role: 'user', content: 'x' }] });
  return `${head.slice(0, -1)},"padding":${padding}}`;
}

function many(count: number, item: string): string {
  return Array.from({ length: count }, () => item).join(',');
}

function names(count: number): string {
  return Array.from({ length: count }, (_, i) => `"name${i}":""`).join(',');
}
