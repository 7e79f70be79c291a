/**
 * A thousand simulated homes on one coordinator: their cost while they are idle, the time of a list
 * of all their models, the time that the gateway adds to calls to them, and the effect on other
 * callers when all of them drop together.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LoadGenerator } from '../load-generator.js';
import type { BenchOptions } from '../options.js';
import { rssMb } from '../process-usage.js';
import { stopAll } from '../processes.js';
import { Samples } from '../samples.js';
import { startCoordinator } from '../subjects/gateway.js';
import type { Fleet } from './fleet.js';
import { openNeighbourhood } from './neighbourhood.js';
import { PHASES } from './phases.js';
import type { Size } from './phases.js';
import { seedNeighbours } from './seed-neighbours.js';

const FULL: Size = {
  rounds: 3,
  homes: 1_000,
  settleMs: 20_000,
  reads: 500,
  perSecond: 200,
  openMs: 30_000,
  calmChunks: 250,
  dropChunks: 600,
};
const QUICK: Size = {
  rounds: 1,
  homes: 200,
  settleMs: 2_000,
  reads: 50,
  perSecond: 100,
  openMs: 4_000,
  calmChunks: 100,
  dropChunks: 200,
};

export async function measureFleet(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(['gateway']);
  const size = options.quick ? QUICK : FULL;
  samples.add('gateway', 'homes', size.homes);
  samples.add('gateway', 'perSecond', size.perSecond);
  for (let i = 0; i < size.rounds; i++) {
    options.say(`round ${i + 1} of ${size.rounds}`);
    await oneRound(samples, size, options);
  }
  return samples;
}

/** Each round has its own coordinator, so that none inherits the memory of another. */
async function oneRound(samples: Samples, size: Size, { cpuProf, say }: BenchOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-fleet-'));
  const nodeFlags = cpuProf === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  const generator = new LoadGenerator();
  let fleet: Fleet | null = null;
  try {
    samples.add('gateway', 'rss.empty', await emptyRssMb(join(folder, 'empty'), size.settleMs));
    const place = { folder, nodeFlags, homes: size.homes };
    const neighbourhood = await openNeighbourhood(place);
    ({ fleet } = neighbourhood);
    const round = { samples, size, generator, say, ...neighbourhood };
    for (const phase of PHASES) await phase(round);
  } finally {
    fleet?.sleepAll();
    generator.stop();
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same program on the same machine, with members and without homes. */
async function emptyRssMb(data: string, settleMs: number): Promise<number> {
  await seedNeighbours(data, []);
  const { pid } = await startCoordinator({ nodeFlags: [], data, log: `${data}.log` });
  await pause(settleMs);
  const mb = rssMb(pid);
  await stopAll();
  return mb;
}
