/** What is measured of a fleet in one round. Metrics are named here, and read by the report. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadGenerator } from '../load-generator.js';
import type { RequestsResult, StreamsResult, Target } from '../load/job.js';
import { cpuMs, rssMb } from '../process-usage.js';
import type { Samples } from '../samples.js';
import type { Neighbourhood } from './neighbourhood.js';

export const STEADY_STREAMS = 10;
const TOKEN_INTERVAL_MS = 20;
const POLL_MS = 10;
/** Homes that are not back by then never come. */
const BACK_WITHIN_MS = 120_000;
/** The streams are well under way. */
const BEFORE_DROP_MS = 1_000;
/** The same arrivals in every run. */
const ARRIVALS_SEED = 7;

export interface Size {
  readonly rounds: number;
  readonly homes: number;
  /** Long enough for a round of heartbeats and for garbage to be collected. */
  readonly settleMs: number;
  readonly reads: number;
  readonly perSecond: number;
  readonly openMs: number;
  /** Of each steady stream, while nothing happens and while all homes drop. */
  readonly calmChunks: number;
  readonly dropChunks: number;
}

interface Round extends Neighbourhood {
  readonly samples: Samples;
  readonly size: Size;
  readonly generator: LoadGenerator;
  readonly say: (line: string) => void;
}

type Phase = (round: Round) => Promise<void>;

/** In this order. */
export const PHASES: readonly Phase[] = [idlePhase, modelsPhase, openPhase, dropPhase];

async function idlePhase({ samples, size, fleet, coordinatorPid }: Round): Promise<void> {
  const startedAt = performance.now();
  fleet.wakeAll();
  await untilLinks(fleet, size.homes);
  samples.add('gateway', 'arrival.seconds', (performance.now() - startedAt) / 1_000);
  await pause(size.settleMs);
  samples.add('gateway', 'rss.idle', rssMb(coordinatorPid));
  samples.add('gateway', 'rss.homes', rssMb(process.pid));
  const cpuBefore = cpuMs(coordinatorPid);
  await pause(size.settleMs);
  const idleCpu = (cpuMs(coordinatorPid) - cpuBefore) / size.settleMs;
  samples.add('gateway', 'cpu.idle', 100 * idleCpu);
}

async function modelsPhase({ samples, size, generator, owner, guest }: Round): Promise<void> {
  for (const [who, target] of [
    ['owner', owner],
    ['guest', guest],
  ] as const) {
    samples.add('gateway', `models.${who}.rows`, await countModels(target));
    const paths = Array.from({ length: size.reads }, () => '/v1/models');
    const { latencyMs } = await generator.run({ kind: 'reads', target, paths });
    addPercentiles(samples, `models.${who}`, latencyMs);
  }
}

/** Popular models, each as often as there are homes that serve it. */
async function openPhase({ samples, size, generator, owner, fleet, ...round }: Round) {
  const models = fleet.homes.flatMap(({ plan }) => plan.models.filter(isPopular));
  const load = { target: owner, models, durationMs: size.openMs, seed: ARRIVALS_SEED };
  const cpuBefore = cpuMs(round.coordinatorPid);
  const result = await generator.run({ kind: 'open', perSecond: size.perSecond, ...load });
  const cpu = (cpuMs(round.coordinatorPid) - cpuBefore) / result.requests;
  const failed = Object.values(result.errors).reduce((sum, count) => sum + count, 0);
  if (failed > 0) round.say(`calls that failed: ${JSON.stringify(result.errors)}`);
  addPercentiles(samples, 'open', result.latencyMs);
  samples.add('gateway', 'open.late', result.lateMs.p99);
  samples.add('gateway', 'open.requests', result.requests);
  samples.add('gateway', 'open.failed', failed);
  samples.add('gateway', 'open.cpu', cpu);
}

/** Streams of a real agent, alone and then while every simulated home drops and comes back. */
async function dropPhase(round: Round): Promise<void> {
  const { samples, size, fleet } = round;
  await round.startSteadyHome();
  addGaps(samples, 'calm', await steadyStreams(round, size.calmChunks));
  const streaming = steadyStreams(round, size.dropChunks);
  let isStreaming = true;
  const ended = streaming.finally(() => (isStreaming = false)).catch(() => {});
  await pause(BEFORE_DROP_MS);
  const { links } = fleet.counts;
  const droppedAt = performance.now();
  fleet.dropAll();
  await untilLinks(fleet, links + size.homes);
  samples.add('gateway', 'drop.seconds', (performance.now() - droppedAt) / 1_000);
  if (!isStreaming) round.say('the streams had ended before the last home was back');
  await ended;
  addGaps(samples, 'drop', await streaming);
}

function steadyStreams({ generator, owner }: Round, chunks: number): Promise<StreamsResult> {
  const wish = { streams: STEADY_STREAMS, chunks, intervalMs: TOKEN_INTERVAL_MS };
  return generator.run({ kind: 'streams', target: owner, ...wish });
}

function addGaps(samples: Samples, phase: string, { gapMs, relayMs }: StreamsResult): void {
  samples.add('gateway', `${phase}.gap.p99`, gapMs.p99);
  samples.add('gateway', `${phase}.gap.max`, gapMs.max);
  samples.add('gateway', `${phase}.relay.max`, relayMs.max);
}

function addPercentiles(samples: Samples, metric: string, ms: RequestsResult['latencyMs']): void {
  for (const [name, value] of Object.entries(ms)) {
    samples.add('gateway', `${metric}.${name}`, Number(value));
  }
}

async function countModels({ origin, headers }: Target): Promise<number> {
  const response = await fetch(`${origin}/v1/models`, { headers });
  const { data } = (await response.json()) as { data: unknown[] };
  return data.length;
}

function isPopular(model: string): boolean {
  return model.startsWith('popular-');
}

async function untilLinks(fleet: Round['fleet'], links: number): Promise<void> {
  const end = performance.now() + BACK_WITHIN_MS;
  while (fleet.counts.links < links || fleet.online < fleet.homes.length) {
    if (performance.now() > end) {
      const { homes, online, counts } = fleet;
      throw new Error(`${online} of ${homes.length} homes are online: ${JSON.stringify(counts)}`);
    }
    await pause(POLL_MS);
  }
}
