/**
 * The relay beside a direct call, a bare Node hop and, if asked for, other proxies: all in one run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoadGenerator } from '../load-generator.js';
import type { BenchOptions } from '../options.js';
import { start, stopAll } from '../processes.js';
import { Samples } from '../samples.js';
import { startGateway } from '../subjects/gateway.js';
import { startNginx } from '../subjects/nginx.js';
import { startPortkey } from '../subjects/portkey.js';
import type { Subject, Surroundings } from '../subjects/subject.js';
import { memoryPhase, PHASES } from './phases.js';
import type { Round } from './phases.js';

const FULL = { rounds: 5, durationMs: 2_000, manyRequests: 100_000 };
const QUICK = { rounds: 1, durationMs: 500, manyRequests: 5_000 };
const WARM_UP_REQUESTS = 2_000;

export async function relay(options: BenchOptions): Promise<Samples> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const generator = new LoadGenerator();
  try {
    const subjects = await startSubjects(folder, options);
    const size = options.quick ? QUICK : FULL;
    const samples = new Samples(subjects.map(({ name }) => name));
    const round = { generator, samples, durationMs: size.durationMs };
    await prepare(round, subjects, size.manyRequests);
    for (let i = 0; i < size.rounds; i++) {
      options.say(`round ${i + 1} of ${size.rounds}`);
      await oneRound(round, subjects, options);
    }
    return samples;
  } finally {
    generator.stop();
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What a peer cannot do is left out and told; from ourselves, and from direct and hop, it ends the
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
    const warmUp = { connections: 16, durationMs: 2_000, maxRequests: WARM_UP_REQUESTS };
    await round.generator.run({ kind: 'closed', target: subject, ...warmUp });
  }
}

async function startSubjects(folder: string, options: BenchOptions): Promise<Subject[]> {
  const mock = await startOwn('mock', folder);
  const hop = await startOwn('hop', folder, mock.ready);
  const nodeFlags =
    options.cpuProf === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.cpuProf}`];
  const surroundings: Surroundings = { mock: mock.ready, folder, nodeFlags };
  const subjects: (Subject | null)[] = [
    { name: 'direct', origin: mock.ready, headers: {}, pids: {}, isPeer: false },
    { name: 'hop', origin: hop.ready, headers: {}, pids: { hop: hop.pid }, isPeer: false },
    await startGateway(surroundings),
  ];
  if (options.peers) {
    subjects.push(await startNginx(surroundings));
    subjects.push(await startPortkey(surroundings, options.portkey));
  }
  return subjects.filter((subject) => subject !== null);
}

function startOwn(name: 'mock' | 'hop', folder: string, ...args: string[]) {
  const script = fileURLToPath(new URL(`../${name}-process.js`, import.meta.url));
  const ready = /ready on (\S+)/;
  return start({ args: [script, ...args], ready, log: join(folder, `${name}.log`) });
}
