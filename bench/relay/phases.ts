/**
 * What is measured of one subject in one round. Metrics are named here and read by report and
 * targets.
 */
import type { LoadGenerator } from '../load-generator.js';
import type { RequestsResult } from '../load/job.js';
import type { Samples } from '../samples.js';
import { addCpu, heldRssMb, usedCpuMs, watchRss } from '../subject-usage.js';
import type { Subject } from '../subjects/subject.js';

export const CONNECTIONS = [1, 16, 64] as const;
export const STREAMS = 500;
const TOKEN_INTERVAL_MS = 20;
const STEADY_PER_SECOND = 200;
const FIRST_TOKEN_STREAMS = 20;
const FLOOD = { streams: 16, chunks: 2_000 };
const RSS_POLL_MS = 250;
export const CHAT = { kind: 'chat' } as const;

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
    const load = { call: CHAT, connections, durationMs, maxRequests } as const;
    const result = await generator.run({ kind: 'closed', target: subject, ...load });
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

export async function firstTokenPhase(
  { generator, samples }: Round,
  subject: Subject,
): Promise<void> {
  for (let i = 0; i < FIRST_TOKEN_STREAMS; i++) {
    const job = { kind: 'streams', target: subject, streams: 1, chunks: 2, intervalMs: 5 } as const;
    samples.add(subject.name, 'first.token', (await generator.run(job)).firstTokenMs.p50);
  }
}

export async function streamsPhase(
  { generator, samples, durationMs }: Round,
  subject: Subject,
): Promise<void> {
  const chunks = Math.ceil((durationMs * 2) / TOKEN_INTERVAL_MS);
  const before = usedCpuMs(subject);
  const rss = watchRss(subject, RSS_POLL_MS);
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
    const load = { call: CHAT, connections: 16, durationMs, maxRequests } as const;
    await round.generator.run({ kind: 'closed', target: subject, ...load });
    for (const [role, mb] of heldRssMb(subject)) {
      round.samples.add(subject.name, `memory.${label}.${role}`, mb);
    }
  }
}

function addLatencies(samples: Samples, place: string, { latencyMs }: RequestsResult): void {
  const [subject = '', phase = ''] = place.split(' ');
  for (const [name, value] of Object.entries(latencyMs)) {
    samples.add(subject, `${phase}.${name}`, Number(value));
  }
}
