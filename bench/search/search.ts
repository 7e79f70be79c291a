/**
 * The search over names of work, as an HTTP request makes it of the store, in large tables of one
 * member, on SQLite and on PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobStatus } from '@inference-gateway/coordinator/core/jobs/job';
import { searchRows } from '@inference-gateway/coordinator/http/edge/read-query';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { randomId } from '@inference-gateway/shared/ids';
import { ENGINES, postgresPlace, sqlitePlace } from '../engines.js';
import type { Place } from '../engines.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { timesOf } from '../statistics.js';
import { startPostgres } from '../subjects/postgres-server.js';
import { seed } from './seed.js';
import type { Seeded } from './seed.js';

type Store = Awaited<ReturnType<typeof openStore>>;

const FULL = { rows: 1_000_000, reads: 30 };
const QUICK = { rows: 20_000, reads: 3 };
const SERVER = { settings: { shared_buffers: '512MB' }, certificate: null };
/** Files beside so many jobs: one of ten. */
const JOBS_A_FILE = 10;
/** As a page of the dashboard asks, and one more. */
const LIMIT = 101;

interface Question {
  readonly says: string;
  readonly ask: (store: Store, seeded: Seeded) => Promise<unknown>;
}

const NOTHING = 'nothing has it';

/** By metric. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  list: { says: 'jobs, the first page without a search', ask: jobs('') },
  newest: { says: 'jobs, what the newest have', ask: jobs('explain') },
  none: { says: 'jobs, what none has', ask: jobs(NOTHING) },
  letters: { says: 'the same with other letters than A to Z', ask: jobs('nïchts hat es') },
  failed: { says: 'what none has, of those that FAILED', ask: jobs(NOTHING, ['FAILED']) },
  middle: { says: 'what none has, from the middle on', ask: jobs(NOTHING, null, true) },
  part: {
    says: 'what the store reads of it at a time',
    ask: async (store, { memberId, part }) =>
      store.listOwnJobs({ ...ANY_JOB, memberId, search: NOTHING, until: part }),
  },
  filesNewest: { says: 'files, what the newest have', ask: files('explain') },
  filesNone: { says: 'files, what none has', ask: files(NOTHING) },
};

const ANY_JOB = {
  statuses: null,
  endpoints: null,
  model: null,
  order: 'desc',
  limit: LIMIT,
  after: null,
} as const;

function jobs(
  search: string,
  statuses: readonly JobStatus[] | null = null,
  fromMiddle = false,
): Question['ask'] {
  return async (store, { memberId, middle }) => {
    const after = fromMiddle ? middle : null;
    const query = { ...ANY_JOB, memberId, statuses, after, search: search || null };
    if (search === '') return await store.listOwnJobs(query);
    return await searchRows(query, {
      endOf: (from, rows) => store.searchEnd({ ...query, after: from }, rows),
      read: (page) => store.listOwnJobs({ ...query, ...page }),
    });
  };
}

function files(search: string): Question['ask'] {
  return async (store, { memberId }) => {
    const query = { memberId, search, limit: LIMIT, after: null };
    return await searchRows(query, {
      endOf: (after, rows) => store.assetSearchEnd({ ...query, after }, rows),
      read: (page) => store.listOwnAssets({ ...query, ...page }),
    });
  };
}

export async function search(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(ENGINES);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-search-'));
  const own = options.postgres === null ? await startPostgres(SERVER) : null;
  try {
    await measure(sqlitePlace(join(folder, 'sqlite')), samples, options);
    const server = options.postgres ?? own?.adminUrl ?? '';
    const name = `gateway_bench_${randomId().toLowerCase()}`;
    const onServer = (text: string): Promise<unknown> =>
      onConnection(server, (connection) => connection.query({ text }));
    await onServer(`create database ${name}`);
    const url = Object.assign(new URL(server), { pathname: name }).href;
    await measure(postgresPlace(join(folder, 'postgres'), url), samples, options);
    await onServer(`drop database ${name} with (force)`);
  } finally {
    await own?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

async function measure(place: Place, samples: Samples, options: BenchOptions): Promise<void> {
  const { engine, folder, databaseUrl, run } = place;
  const size = options.quick ? QUICK : FULL;
  const rows = options.rows ?? size.rows;
  const store = await openStore(folder, { inThread: true, databaseUrl });
  try {
    const startedAt = performance.now();
    const seeded = await seed(store, run, { jobs: rows, files: Math.ceil(rows / JOBS_A_FILE) });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    options.say(`${engine}: ${rows} jobs written in ${seconds} s`);
    samples.add(engine, 'rows', rows);
    for (const [metric, { ask }] of Object.entries(QUESTIONS)) {
      const { p50, max } = await timesOf(() => ask(store, seeded), size.reads);
      samples.add(engine, `${metric}.p50`, p50);
      samples.add(engine, `${metric}.max`, max);
    }
  } finally {
    await store.close();
  }
}
