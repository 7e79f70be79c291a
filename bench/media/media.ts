/** Large files, both ways, beside a direct call and a bare Node hop: all in one run. */
import { onGrounds } from '../grounds.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { memoryPhase, PHASES } from './phases.js';

const FULL = { rounds: 5, durationMs: 3_000, streamMs: 6_000 };
const QUICK = { rounds: 1, durationMs: 700, streamMs: 2_000 };
/** More than are ever used concurrently, so that nothing waits for a slot. */
const SERVICES = { llm: 64, stt: 64, image: 64, embedding: 64 };

export function media(options: BenchOptions): Promise<Samples> {
  return onGrounds(options, SERVICES, async ({ subjects, newGenerator }) => {
    const size = options.quick ? QUICK : FULL;
    const samples = new Samples(subjects.map(({ name }) => name));
    const round = { ...size, samples, generator: newGenerator(), uploader: newGenerator() };
    for (const subject of subjects) await memoryPhase(round, subject);
    for (let i = 0; i < size.rounds; i++) {
      options.say(`round ${i + 1} of ${size.rounds}`);
      for (const phase of PHASES) {
        for (const subject of subjects) await phase(round, subject);
      }
    }
    return samples;
  });
}
