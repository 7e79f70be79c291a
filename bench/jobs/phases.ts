/**
 * What is measured of the gateway's jobs in one round, by HTTP. Metrics are named here and read by
 * report and targets.
 */
import type { LoadGenerator } from '../load-generator.js';
import { untilIdle } from '../load/job-load.js';
import type { Call } from '../load/job.js';
import type { Samples } from '../samples.js';
import { addCpu, heldRssMb, usedCpuMs, watchRss } from '../subject-usage.js';
import { switchQueue } from '../subjects/gateway.js';
import type { Subject } from '../subjects/subject.js';

export const CONNECTIONS = 64;
export const BATCH_ITEMS = 256;
const CHAT: Call = { kind: 'chat' };
const SUBMISSION: Call = { kind: 'submission' };
const RSS_POLL_MS = 250;
const UNTIMED = { durationMs: Number.MAX_SAFE_INTEGER };
/** Less than a member may have queued by default: no single caller submits more. */
const MAX_SUBMISSIONS = 8_000;

export interface Round {
  readonly generator: LoadGenerator;
  readonly samples: Samples;
  readonly target: Subject;
  /** The coordinator's data lie here. */
  readonly folder: string;
  readonly calls: number;
  readonly submitMs: number;
  readonly batches: number;
  readonly starts: number;
}

type Phase = (round: Round) => Promise<void>;

/** In this order each round. */
export const PHASES: readonly Phase[] = [syncPhase, jobsPhase, submitPhase, batchPhase, startPhase];

/** Both ways, so that neither finds cold code. */
export async function warmUp({ generator, target, calls }: Round): Promise<void> {
  const load = { connections: CONNECTIONS, ...UNTIMED, maxRequests: calls };
  await generator.run({ kind: 'closed', target, call: CHAT, ...load });
  await generator.run({ kind: 'jobs', target, jobs: calls, connections: CONNECTIONS });
}

async function syncPhase({ generator, target, samples, calls }: Round): Promise<void> {
  const before = usedCpuMs(target);
  const load = { connections: CONNECTIONS, ...UNTIMED, maxRequests: calls };
  const closed = { kind: 'closed', target, call: CHAT, ...load } as const;
  const { requests, seconds } = await generator.run(closed);
  samples.add('gateway', 'sync.rps', requests / seconds);
  addCpu({ samples, subject: target, before, metric: 'sync.cpu', per: requests });
}

async function jobsPhase({ generator, target, samples, calls }: Round): Promise<void> {
  const before = usedCpuMs(target);
  const load = { target, jobs: calls, connections: CONNECTIONS };
  const { requests, seconds } = await generator.run({ kind: 'jobs', ...load });
  samples.add('gateway', 'jobs.rps', requests / seconds);
  addCpu({ samples, subject: target, before, metric: 'jobs.cpu', per: requests });
}

/** While the queue is paused, only submissions happen. */
async function submitPhase({ generator, target, samples, submitMs, folder }: Round): Promise<void> {
  await switchQueue(folder, 'pause');
  for (const connections of [1, CONNECTIONS]) {
    const load = { connections, durationMs: submitMs, maxRequests: MAX_SUBMISSIONS };
    const closed = { kind: 'closed', target, call: SUBMISSION, ...load } as const;
    const { requests, seconds, latencyMs } = await generator.run(closed);
    samples.add('gateway', `submit${connections}.rps`, requests / seconds);
    samples.add('gateway', `submit${connections}.p50`, latencyMs.p50);
    samples.add('gateway', `submit${connections}.p99`, latencyMs.p99);
  }
  await switchQueue(folder, 'resume');
  await untilIdle(target);
}

async function batchPhase({ generator, target, samples, batches }: Round): Promise<void> {
  for (let i = 0; i < batches; i++) {
    const { seconds } = await generator.run({ kind: 'batch', target, items: BATCH_ITEMS });
    samples.add('gateway', 'batch.seconds', seconds);
  }
}

/** From its batch to `completed`, and by how much the coordinator grew meanwhile. */
export async function filePhase(
  { generator, target, samples }: Round,
  lines: number,
): Promise<void> {
  const [beforeCpu, beforeMb] = [usedCpuMs(target), heldRssMb(target)];
  const rss = watchRss(target, RSS_POLL_MS);
  const { seconds } = await generator.run({ kind: 'file', target, lines });
  const grown = (rss().get('coordinator') ?? Number.NaN) - (beforeMb.get('coordinator') ?? 0);
  samples.add('gateway', 'file.rps', lines / seconds);
  samples.add('gateway', 'file.rss', grown);
  addCpu({ samples, subject: target, before: beforeCpu, metric: 'file.cpu', per: lines });
}

async function startPhase({ generator, target, samples, starts }: Round): Promise<void> {
  const { latencyMs } = await generator.run({ kind: 'starts', target, times: starts });
  samples.add('gateway', 'start.p50', latencyMs.p50);
  samples.add('gateway', 'start.p99', latencyMs.p99);
}
