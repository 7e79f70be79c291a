/**
 * The relay beside a direct call, a bare Node hop and, if asked for, other proxies: all in one run.
 */
import { onGrounds } from '../grounds.js';
import type { BenchOptions } from '../options.js';
import { Samples } from '../samples.js';
import { startNginx } from '../subjects/nginx.js';
import { startPortkey } from '../subjects/portkey.js';
import type { Subject, Surroundings } from '../subjects/subject.js';
import { CHAT, memoryPhase, PHASES } from './phases.js';
import type { Round } from './phases.js';

const FULL = { rounds: 5, durationMs: 2_000, manyRequests: 100_000 };
const QUICK = { rounds: 1, durationMs: 500, manyRequests: 5_000 };
const WARM_UP_REQUESTS = 2_000;
/** As many slots as a link carries, so that no request waits for one. */
const SERVICES = { llm: 1_024 };

export function relay(options: BenchOptions): Promise<Samples> {
  return onGrounds(options, SERVICES, async ({ surroundings, subjects: own, newGenerator }) => {
    const subjects = [...own, ...(options.peers ? await startPeers(surroundings, options) : [])];
    const size = options.quick ? QUICK : FULL;
    const samples = new Samples(subjects.map(({ name }) => name));
    const round = { generator: newGenerator(), samples, durationMs: size.durationMs };
    await prepare(round, subjects, size.manyRequests);
    for (let i = 0; i < size.rounds; i++) {
      options.say(`round ${i + 1} of ${size.rounds}`);
      await oneRound(round, subjects, options);
    }
    return samples;
  });
}

/**
 * A phase in which a peer fails is left out and reported; a failure of any other subject ends the
 * run.
 */
async function oneRound(
  round: Round,
  subjects: readonly Subject[],
  { say }: BenchOptions,
): Promise<void> {
  for (const phase of PHASES) {
    for (const subject of subjects) {
      await phase(round, subject).catch((error: unknown) => {
        if (!subject.isPeer) throw error;
        say(`left out: ${String(error)}`);
      });
    }
  }
}

async function prepare(round: Round, subjects: readonly Subject[], many: number): Promise<void> {
  for (const subject of subjects) {
    if (subject.name === 'gateway') await memoryPhase(round, subject, many);
    const warmUp = {
      call: CHAT,
      connections: 16,
      durationMs: 2_000,
      maxRequests: WARM_UP_REQUESTS,
    };
    await round.generator.run({ kind: 'closed', target: subject, ...warmUp });
  }
}

async function startPeers(
  surroundings: Surroundings,
  { portkey }: BenchOptions,
): Promise<Subject[]> {
  const peers = [await startNginx(surroundings), await startPortkey(surroundings, portkey)];
  return peers.filter((peer) => peer !== null);
}
