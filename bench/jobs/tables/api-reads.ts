/** The same lists and reads by HTTP, from a coordinator on each table. */
import { join } from 'node:path';
import { LoadGenerator } from '../../load-generator.js';
import type { Target } from '../../load/job.js';
import { stopAll } from '../../processes.js';
import { startCoordinator } from '../../subjects/gateway.js';
import type { Seeded } from './seed.js';
import { idAt } from './table-round.js';
import type { TableRound, Tables } from './table-round.js';

interface Place {
  readonly table: Seeded;
  readonly target: Target;
}

/** The path of the nth request, by metric. */
const PATHS: Readonly<Record<string, (table: Seeded, index: number) => string>> = {
  'api.list': () => '/v1/jobs',
  'api.listDeep': (table, i) => `/v1/jobs?after=${idAt(table, i)}`,
  'api.listStatus': () => '/v1/jobs?status=PROCESSED',
  'api.get': (table, i) => `/v1/jobs/${idAt(table, i)}`,
};

export async function measureApis(tables: Tables, round: TableRound): Promise<void> {
  const generator = new LoadGenerator();
  try {
    const places = await startAll(tables, round);
    // The first one is for the compiler, and is not counted.
    await oneRound(places, round, generator);
    for (let i = 0; i < round.rounds; i++) {
      round.say(`tables, by HTTP: round ${i + 1} of ${round.rounds}`);
      const found = await oneRound(places, round, generator);
      for (const { name, metric, ms } of found) round.samples.add(name, metric, ms);
    }
  } finally {
    generator.stop();
    await stopAll();
  }
}

async function startAll(tables: Tables, { cpuProf }: TableRound): Promise<Map<string, Place>> {
  const nodeFlags = cpuProf === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  const places = new Map<string, Place>();
  for (const [name, table] of tables) {
    const place = { nodeFlags, data: table.folder, log: join(table.folder, 'coordinator.log') };
    const { ready: origin } = await startCoordinator(place);
    const headers = { authorization: `Bearer ${table.key}` };
    places.set(name, { table, target: { origin, headers } });
  }
  return places;
}

async function oneRound(
  places: ReadonlyMap<string, Place>,
  { reads }: TableRound,
  generator: LoadGenerator,
): Promise<{ name: string; metric: string; ms: number }[]> {
  const found = [];
  for (const [metric, pathOf] of Object.entries(PATHS)) {
    for (const [name, { table, target }] of places) {
      const paths = Array.from({ length: reads }, (_, i) => pathOf(table, i));
      const { latencyMs } = await generator.run({ kind: 'reads', target, paths });
      found.push({ name, metric, ms: latencyMs.p50 });
    }
  }
  return found;
}
