/** The store's queue beside other queues, round by round, each with a fresh database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from '../../options.js';
import type { Samples } from '../../samples.js';
import { openBullMqQueue, redisDurability } from './bullmq-queue.js';
import type { BullMq } from './bullmq-queue.js';
import { openGatewayQueue, openPostgresQueue } from './gateway-queue.js';
import { installed } from './installed.js';
import { openPlainjobQueue } from './plainjob-queue.js';
import type { Plainjob } from './plainjob-queue.js';
import type { JobQueue } from './queue.js';

/** `plainjob-full` is plainjob with commits that wait for the disk, as ours do. */
export const QUEUES = [
  'gateway',
  'gateway-postgres',
  'plainjob',
  'plainjob-full',
  'bullmq',
] as const;

type QueueName = (typeof QUEUES)[number];
export type Open = (folder: string) => Promise<JobQueue> | JobQueue;

const FULL = { rounds: 5, jobs: 10_000 };
const QUICK = { rounds: 1, jobs: 500 };
/** Where every commit waits for the disk, a job takes three of them, one after the other. */
const SLOW_SHARE = 20;
const SLOW: readonly QueueName[] = ['plainjob-full', 'gateway-postgres'];

export async function measureQueues(options: BenchOptions, samples: Samples): Promise<void> {
  const openers = await findQueues(options);
  const { rounds, jobs } = options.quick ? QUICK : FULL;
  // The first one is for the compiler, and is not counted.
  for (const [name, open] of openers) await measured(open, shareOf(name, jobs));
  for (let i = 0; i < rounds; i++) {
    options.say(`queues: round ${i + 1} of ${rounds}`);
    for (const [name, open] of openers) {
      const rates = await measured(open, shareOf(name, jobs));
      for (const [metric, rate] of Object.entries(rates)) samples.add(name, metric, rate);
    }
  }
}

function shareOf(name: QueueName, jobs: number): number {
  return SLOW.includes(name) ? jobs / SLOW_SHARE : jobs;
}

export async function measured(open: Open, jobs: number): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-queue-'));
  const queue = await open(folder);
  try {
    const addS = await secondsOf(() => queue.add(jobs));
    const runS = await secondsOf(() => queue.run(jobs));
    return { 'queue.add': jobs / addS, 'queue.run': jobs / runS, queue: jobs / (addS + runS) };
  } finally {
    await queue.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function findQueues(options: BenchOptions): Promise<Map<QueueName, Open>> {
  const { queues: folder, redis, say } = options;
  const found = new Map<QueueName, Open>([['gateway', (at) => openGatewayQueue(at)]]);
  const { postgres } = options;
  if (postgres === null) say('to measure PostgreSQL: --postgres postgres://…, of a server');
  else found.set('gateway-postgres', (at) => openPostgresQueue(at, postgres));
  const plainjob = (await installed('plainjob', folder, say)) as Plainjob | null;
  if (plainjob === null) say('to compare with it: npm install --no-save plainjob');
  else {
    found.set('plainjob', (at) => openPlainjobQueue(plainjob, at, null));
    found.set('plainjob-full', (at) => openPlainjobQueue(plainjob, at, 'FULL'));
  }
  const bullmq = (await installed('bullmq', folder, say)) as BullMq | null;
  const durability = bullmq === null ? null : await redisDurability(redis);
  if (bullmq === null) say('to compare with it: npm install --no-save bullmq ioredis');
  else if (durability === null) say(`left out: bullmq, no Redis answers at ${redis} (--redis URL)`);
  else {
    say(`bullmq: its Redis has ${durability}`);
    found.set('bullmq', () => openBullMqQueue(bullmq, redis));
  }
  return found;
}
