/**
 * The store's queue on PostgreSQL beside queues that were made for it, on one server, round by
 * round; then operations of the store on both engines.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPostgresQueue, onNewDatabase } from '../jobs/queues/gateway-queue.js';
import { installed } from '../jobs/queues/installed.js';
import { measured } from '../jobs/queues/queues.js';
import type { Open } from '../jobs/queues/queues.js';
import type { QueueLoad } from '../jobs/queues/queue.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { startPostgres } from '../subjects/postgres-server.js';
import { openGraphileQueue } from './graphile-queue.js';
import type { Graphile } from './graphile-queue.js';
import { measureOperations } from './operations.js';
import { openPgBossQueue } from './pg-boss-queue.js';
import type { PgBossModule } from './pg-boss-queue.js';

/** Our own with the jobs of one member, and with those of many in turn. */
export const QUEUES = ['gateway', 'gateway-100', 'graphile-worker', 'pg-boss'] as const;
const MANY_MEMBERS = 100;

const TEXT = 'x'.repeat(960);
const LOAD: QueueLoad = {
  payload: { model: 'bench-model', messages: [{ role: 'user', content: TEXT }] },
  result: { choices: [{ message: { role: 'assistant', content: TEXT } }] },
  members: 1,
  submitters: 64,
};

const FULL = { rounds: 5, jobs: 1_500, calls: 200 };
const QUICK = { rounds: 1, jobs: 200, calls: 20 };

/** As installed by `npm ci --prefix bench/queue`; this file runs in `build/bench/queue`. */
const PEERS = join(dirname(fileURLToPath(import.meta.url)), '../../../bench/queue');

export async function queue(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(QUEUES);
  const { rounds, jobs, calls } = options.quick ? QUICK : FULL;
  const own = options.postgres === null ? await startPostgres(SERVER) : null;
  const server = options.postgres ?? own?.adminUrl ?? '';
  try {
    const queues = [...(await findQueues(server, options))];
    // The first one is for the compiler, and is not counted.
    for (const [, open] of queues) await measured(open, Math.ceil(jobs / 4));
    for (let i = 0; i < rounds; i++) {
      options.say(`queues: round ${i + 1} of ${rounds}`);
      // Each has each place in turn.
      const first = i % queues.length;
      for (const [name, open] of [...queues.slice(first), ...queues.slice(0, first)]) {
        const rates = Object.entries(await measured(open, jobs));
        rates.forEach(([metric, rate]) => samples.add(name, metric, rate));
      }
    }
    options.say('operations of the store on both engines');
    await measureOperations({ server, calls, samples });
    return samples;
  } finally {
    await own?.stop();
  }
}

/** As it is installed, but for the memory: what is answered is on the disk. */
const SERVER = { settings: { shared_buffers: '128MB' }, certificate: null };

async function findQueues(
  server: string,
  { say }: BenchOptions,
): Promise<Map<(typeof QUEUES)[number], Open>> {
  const found = new Map<(typeof QUEUES)[number], Open>([
    ['gateway', (folder) => openPostgresQueue(folder, server, LOAD)],
    [
      'gateway-100',
      (folder) => openPostgresQueue(folder, server, { ...LOAD, members: MANY_MEMBERS }),
    ],
  ]);
  const graphile = (await installed('graphile-worker', PEERS, say)) as Graphile | null;
  const boss = (await installed('pg-boss', PEERS, say)) as PgBossModule | null;
  if (graphile === null || boss === null) say('to compare with it: npm ci --prefix bench/queue');
  if (graphile !== null) {
    found.set('graphile-worker', () =>
      onNewDatabase(server, (url) => openGraphileQueue(graphile, url, LOAD)),
    );
  }
  if (boss !== null) {
    found.set('pg-boss', () => onNewDatabase(server, (url) => openPgBossQueue(boss, url, LOAD)));
  }
  return found;
}
