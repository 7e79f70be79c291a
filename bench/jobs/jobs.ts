/**
 * Asynchronous jobs beside the same calls made synchronously, the store's queue beside other
 * queues, and a table of a million jobs beside one of a thousand: all in one run.
 */
import { onGrounds } from '../grounds.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { filePhase, PHASES, warmUp } from './phases.js';
import type { Round } from './phases.js';
import { measureQueues, QUEUES } from './queues/queues.js';
import { measureTables } from './tables/tables.js';

const FULL = { rounds: 5, calls: 4_000, submitMs: 2_000, batches: 3, starts: 200, lines: 50_000 };
const QUICK = { rounds: 1, calls: 500, submitMs: 300, batches: 1, starts: 20, lines: 2_000 };
const SERVICES = { llm: 64 };

export async function jobs(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(['gateway', ...QUEUES.filter((name) => name !== 'gateway')]);
  await onGrounds(options, SERVICES, async ({ surroundings, subjects, newGenerator }) => {
    const target = subjects.find(({ name }) => name === 'gateway');
    if (target === undefined) throw new Error('the grounds have no gateway');
    const size = options.quick ? QUICK : FULL;
    const { folder } = surroundings;
    const round: Round = { ...size, target, folder, samples, generator: newGenerator() };
    await warmUp(round);
    for (let i = 0; i < size.rounds; i++) {
      options.say(`calls and jobs: round ${i + 1} of ${size.rounds}`);
      for (const phase of PHASES) await phase(round);
    }
    options.say(`a file of ${size.lines} requests`);
    await filePhase(round, size.lines);
    return samples;
  });
  await measureQueues(options, samples);
  await measureTables(options, samples);
  return samples;
}
