/**
 * What the charts of usage ask of the store, with a year of hours of 500 members in its tables, on
 * SQLite and on PostgreSQL; and what the sums of periods add to the writing of usage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { randomId } from '@inference-gateway/shared/ids';
import { ENGINES, postgresPlace, sqlitePlace } from '../engines.js';
import type { Place } from '../engines.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { timesOf } from '../statistics.js';
import { startPostgres } from '../subjects/postgres-server.js';
import { QUESTIONS } from './questions.js';
import { seed } from './seed.js';
import { measureWrites } from './writes.js';

const FULL = { share: 1, reads: 30 };
const QUICK = { share: 0.02, reads: 5 };

export async function usage(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(ENGINES);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-usage-'));
  const own = options.postgres === null ? await startPostgres(SERVER) : null;
  try {
    options.say('writing of usage on SQLite');
    await measureWrites(join(folder, 'writes'), samples);
    await measureReads(sqlitePlace(join(folder, 'sqlite')), samples, options);
    const server = options.postgres ?? own?.adminUrl ?? '';
    const name = `gateway_bench_${randomId().toLowerCase()}`;
    const onServer = (text: string): Promise<unknown> =>
      onConnection(server, (connection) => connection.query({ text }));
    await onServer(`create database ${name}`);
    const url = Object.assign(new URL(server), { pathname: name }).href;
    await measureReads(postgresPlace(join(folder, 'postgres'), url), samples, options);
    await onServer(`drop database ${name} with (force)`);
  } finally {
    await own?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

const SERVER = { settings: { shared_buffers: '512MB' }, certificate: null };

async function measureReads(place: Place, samples: Samples, options: BenchOptions): Promise<void> {
  const { engine, folder, databaseUrl, run } = place;
  const { share, reads } = options.quick ? QUICK : FULL;
  const store = await openStore(folder, { inThread: true, databaseUrl });
  try {
    const startedAt = performance.now();
    const seeded = await seed(store, run, { share });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    options.say(`${engine}: a year of hours written in ${seconds} s`);
    const { bytes } = await store.databaseFacts();
    samples.add(engine, 'mb', bytes / 1024 ** 2);
    for (const [metric, { ask }] of Object.entries(QUESTIONS)) {
      const { p50, max } = await timesOf(() => ask(store, seeded), reads);
      samples.add(engine, `${metric}.p50`, p50);
      samples.add(engine, `${metric}.max`, max);
    }
  } finally {
    await store.close();
  }
}
