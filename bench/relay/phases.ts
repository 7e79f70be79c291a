/**
 * What is measured of one subject in one round. Metrics are named here and read by report and
 * targets.
 */
import type { LoadGenerator } from '../load-generator.js';
import type { RequestsResult } from '../load/job.js';
import { cpuMs, rssMb } from '../process-usage.js';
import type { Samples } from '../samples.js';
import type { Subject } from '../subjects/subject.js';

export const CONNECTIONS = [1, 16, 64] as const;
export const STREAMS = 500;
const TOKEN_INTERVAL_MS = 20;
const STEADY_PER_SECOND = 200;
const FIRST_TOKEN_STREAMS = 20;
const FLOOD = { streams: 16, chunks: 2_000 };
const RSS_POLL_MS = 250;

export interface Round {
  readonly generator: LoadGenerator;
  readonly samples: Samples;
  readonly durationMs: number;
}

export type Phase = (round: Round, subject: Subject) => Promise<void>;

/**
 * In this order each round, every phase over all subjects before the next: neighbours share the
 * weather.
 */
export const PHASES: readonly Phase[] = [
  ...CONNECTIONS.map((connections) => jsonPhase(connections)),
  steadyPhase,
  firstTokenPhase,
  streamsPhase,
  floodPhase,
];

function jsonPhase(connections: number): Phase {
  return async ({ generator, samples, durationMs }, subject) => {
    const { name } = subject;
    const before = usedCpuMs(subject);
    const maxRequests = Number.MAX_SAFE_INTEGER;
    const job = { kind: 'closed', target: subject, connections, durationMs, maxRequests } as const;
    const result = await generator.run(job);
    samples.add(name, `json${connections}.rps`, result.requests / result.seconds);
    addLatencies(samples, `${name} json${connections}`, result);
    addCpu({ samples, subject, before, metric: `json${connections}.cpu`, per: result.requests });
  };
}

async function steadyPhase(
  { generator, samples, durationMs }: Round,
  subject: Subject,
): Promise<void> {
  const job = {
    kind: 'steady',
    target: subject,
    perSecond: STEADY_PER_SECOND,
    durationMs,
  } as const;
  addLatencies(samples, `${subject.name} steady`, await generator.run(job));
}

async function firstTokenPhase({ generator, samples }: Round, subject: Subject): Promise<void> {
  for (let i = 0; i < FIRST_TOKEN_STREAMS; i++) {
    const job = { kind: 'streams', target: subject, streams: 1, chunks: 2, intervalMs: 5 } as const;
    samples.add(subject.name, 'first.token', (await generator.run(job)).firstTokenMs.p50);
  }
}

async function streamsPhase(
  { generator, samples, durationMs }: Round,
  subject: Subject,
): Promise<void> {
  const chunks = Math.ceil((durationMs * 2) / TOKEN_INTERVAL_MS);
  const before = usedCpuMs(subject);
  const rss = watchRss(subject);
  const job = { streams: STREAMS, chunks, intervalMs: TOKEN_INTERVAL_MS } as const;
  const result = await generator.run({ kind: 'streams', target: subject, ...job });
  samples.add(subject.name, 'streams.rate', result.chunksPerSecond);
  samples.add(subject.name, 'streams.relay.p50', result.relayMs.p50);
  samples.add(subject.name, 'streams.relay.p99', result.relayMs.p99);
  samples.add(subject.name, 'streams.first', result.firstTokenMs.p50);
  addCpu({ samples, subject, before, metric: 'streams.cpu', per: result.chunks });
  for (const [role, mb] of rss()) samples.add(subject.name, `streams.rss.${role}`, mb);
}

async function floodPhase({ generator, samples }: Round, subject: Subject): Promise<void> {
  const result = await generator.run({ kind: 'streams', target: subject, intervalMs: 0, ...FLOOD });
  samples.add(subject.name, 'flood.rate', result.chunksPerSecond);
}

/** Once, before the rounds: memory after few and after many requests on a fresh process. */
export async function memoryPhase(round: Round, subject: Subject, many: number): Promise<void> {
  const few = 1_000;
  for (const [label, maxRequests] of [
    ['few', few],
    ['many', many - few],
  ] as const) {
    const durationMs = Number.MAX_SAFE_INTEGER;
    const job = {
      kind: 'closed',
      target: subject,
      connections: 16,
      durationMs,
      maxRequests,
    } as const;
    await round.generator.run(job);
    for (const [role, pid] of Object.entries(subject.pids)) {
      round.samples.add(subject.name, `memory.${label}.${role}`, rssMb(pid));
    }
  }
}

function addLatencies(samples: Samples, place: string, { latencyMs }: RequestsResult): void {
  const [subject = '', phase = ''] = place.split(' ');
  for (const [name, value] of Object.entries(latencyMs)) {
    samples.add(subject, `${phase}.${name}`, Number(value));
  }
}

interface CpuSpan {
  readonly samples: Samples;
  readonly subject: Subject;
  readonly before: Map<string, number>;
  readonly metric: string;
  readonly per: number;
}

function addCpu({ samples, subject, before, metric, per }: CpuSpan): void {
  for (const [role, ms] of usedCpuMs(subject)) {
    samples.add(subject.name, `${metric}.${role}`, (ms - (before.get(role) ?? 0)) / per);
  }
}

function usedCpuMs(subject: Subject): Map<string, number> {
  return new Map(Object.entries(subject.pids).map(([role, pid]) => [role, cpuMs(pid)]));
}

/** The most that each process held from now until the returned function is called. */
function watchRss(subject: Subject): () => Map<string, number> {
  const most = new Map<string, number>();
  const look = (): void => {
    for (const [role, pid] of Object.entries(subject.pids)) {
      most.set(role, Math.max(most.get(role) ?? 0, rssMb(pid)));
    }
  };
  const timer = setInterval(look, RSS_POLL_MS);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}
