/**
 * Several coordinators on one machine: what a call costs that takes the hop to the coordinator with
 * the agent, and what three coordinators cost beside one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inOwnFolder, profilingFlags, startOwn } from '../grounds.js';
import type { LoadGenerator } from '../load-generator.js';
import type { RequestsResult } from '../load/job.js';
import type { BenchOptions } from '../options.js';
import { stopAll } from '../processes.js';
import { CHAT } from '../relay/phases.js';
import { Samples } from '../samples.js';
import { usedCpuMs } from '../subject-usage.js';
import { startPostgres } from '../subjects/postgres-server.js';
import type { Subject } from '../subjects/subject.js';
import { startCluster } from './start-cluster.js';

const FULL = { rounds: 5, durationMs: 3_000 };
const QUICK = { rounds: 1, durationMs: 500 };
const WARM_UP_REQUESTS = 3_000;

/** Idle processes use so little that it is looked at for longer. */
const IDLE_TIMES = 3;
const PER_SECOND = 100;
export const CONNECTIONS = 16;
export const STREAMS = 50;
const CHUNKS = 200;
const INTERVAL_MS = 20;

/** With the settings of a server that loses nothing. */
const SERVER = { settings: { shared_buffers: '128MB' }, certificate: null };

interface Round {
  readonly generator: LoadGenerator;
  readonly samples: Samples;
  readonly durationMs: number;
}

type Phase = (round: Round, subject: Subject) => Promise<void>;

const PHASES: readonly Phase[] = [onePhase, steadyPhase, loadPhase, streamsPhase];

export function cluster(options: BenchOptions): Promise<Samples> {
  return inOwnFolder(async ({ folder, newGenerator }) => {
    const own = options.postgres === null ? await startPostgres(SERVER) : null;
    try {
      const mock = (await startOwn('mock', folder)).ready;
      const surroundings = { mock, folder, nodeFlags: profilingFlags(options.cpuProf) };
      const started = await startCluster(surroundings, options.postgres ?? own?.adminUrl ?? '');
      const samples = await measure(started.subjects, newGenerator(), options);
      started.close();
      await stopAll();
      return samples;
    } finally {
      await own?.stop();
    }
  });
}

async function measure(
  subjects: readonly Subject[],
  generator: LoadGenerator,
  { quick, say }: BenchOptions,
): Promise<Samples> {
  const { rounds, durationMs } = quick ? QUICK : FULL;
  const samples = new Samples(subjects.map(({ name }) => name));
  // The first calls of a process compile its code.
  for (const target of subjects) {
    const limits = { connections: CONNECTIONS, durationMs: 60_000, maxRequests: WARM_UP_REQUESTS };
    await generator.run({ kind: 'closed', target, call: CHAT, ...limits });
    await streamsPhase({ generator, samples: new Samples([]), durationMs }, target);
  }
  for (const subject of subjects) await idlePhase({ generator, samples, durationMs }, subject);
  for (let i = 0; i < rounds; i++) {
    say(`round ${i + 1} of ${rounds}`);
    // Each has each place in turn.
    const first = i % subjects.length;
    for (const phase of PHASES) {
      for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
        await phase({ generator, samples, durationMs }, subject);
      }
    }
  }
  return samples;
}

async function idlePhase({ samples, durationMs }: Round, target: Subject): Promise<void> {
  const before = cpuOf(target);
  await sleep(IDLE_TIMES * durationMs);
  samples.add(target.name, 'idle', ((cpuOf(target) - before) * 100) / (IDLE_TIMES * durationMs));
}

async function onePhase({ generator, samples, durationMs }: Round, target: Subject): Promise<void> {
  const limits = { connections: 1, durationMs, maxRequests: Number.MAX_SAFE_INTEGER } as const;
  const result = await generator.run({ kind: 'closed', target, call: CHAT, ...limits });
  addLatencies(samples, `${target.name} single`, result);
}

async function steadyPhase(round: Round, target: Subject): Promise<void> {
  const { generator, samples, durationMs } = round;
  const job = { kind: 'steady', target, perSecond: PER_SECOND, durationMs } as const;
  const before = cpuOf(target);
  const result = await generator.run(job);
  addLatencies(samples, `${target.name} steady`, result);
  samples.add(target.name, 'steady.cpu', (cpuOf(target) - before) / result.requests);
}

async function loadPhase(round: Round, target: Subject): Promise<void> {
  const { generator, samples, durationMs } = round;
  const before = cpuOf(target);
  const load = { call: CHAT, connections: CONNECTIONS, durationMs } as const;
  const maxRequests = Number.MAX_SAFE_INTEGER;
  const result = await generator.run({ kind: 'closed', target, ...load, maxRequests });
  addLatencies(samples, `${target.name} load`, result);
  samples.add(target.name, 'load.rps', result.requests / result.seconds);
  samples.add(target.name, 'load.cpu', (cpuOf(target) - before) / result.requests);
}

async function streamsPhase({ generator, samples }: Round, target: Subject): Promise<void> {
  const before = cpuOf(target);
  const job = { streams: STREAMS, chunks: CHUNKS, intervalMs: INTERVAL_MS } as const;
  const result = await generator.run({ kind: 'streams', target, ...job });
  samples.add(target.name, 'streams.cpu', (cpuOf(target) - before) / result.chunks);
  samples.add(target.name, 'streams.relay.p50', result.relayMs.p50);
  samples.add(target.name, 'streams.first.p50', result.firstTokenMs.p50);
}

/** Of all its coordinators together. */
function cpuOf(subject: Subject): number {
  return [...usedCpuMs(subject).values()].reduce((sum, ms) => sum + ms, 0);
}

function addLatencies(samples: Samples, place: string, { latencyMs }: RequestsResult): void {
  const [name = '', phase = ''] = place.split(' ');
  samples.add(name, `${phase}.p50`, latencyMs.p50);
  samples.add(name, `${phase}.p95`, latencyMs.p95);
}
