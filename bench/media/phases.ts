/**
 * What is measured of one subject in one round. Metrics are named here and read by report and
 * targets.
 */
import type { LoadGenerator } from '../load-generator.js';
import { IMAGE_BYTES, NUMBER_BYTES, VECTORS } from '../load/job.js';
import type { Call, RequestsResult } from '../load/job.js';
import type { Samples } from '../samples.js';
import { addCpu, heldRssMb, usedCpuMs, watchRss } from '../subject-usage.js';
import type { Subject } from '../subjects/subject.js';

const MIB = 1024 * 1024;
/** The largest file that the specification lets through. */
const UPLOAD_BYTES = 25 * MIB;
const UPLOAD: Call = { kind: 'upload', fileBytes: UPLOAD_BYTES };
const SMALL_UPLOAD: Call = { kind: 'upload', fileBytes: 64 * 1024 };
const IMAGE: Call = { kind: 'image' };
const LISTED: Call = { kind: 'vectors' };
const VECTORS_BYTES = VECTORS.texts * VECTORS.dimensions * NUMBER_BYTES;
export const CONNECTIONS = 2;
export const CROWD = 20;
export const TOKEN_INTERVAL_MS = 20;
const RSS_POLL_MS = 20;
/** The gateway keeps every image that it answers: in all rounds together, 2.4 GB at most. */
const MAX_LARGE = 120;
const MAX_SMALL = 1_000;

export interface Round {
  readonly generator: LoadGenerator;
  /** Sends the crowd's uploads: in one process with the stream, it would delay its chunks. */
  readonly uploader: LoadGenerator;
  readonly samples: Samples;
  readonly durationMs: number;
  readonly streamMs: number;
}

export type Phase = (round: Round, subject: Subject) => Promise<void>;

/**
 * In this order each round, every phase over all subjects before the next: neighbours share the
 * weather.
 */
export const PHASES: readonly Phase[] = [
  transferPhase('upload', UPLOAD, UPLOAD_BYTES),
  transferPhase('image', IMAGE, IMAGE_BYTES),
  transferPhase('vectors', LISTED, VECTORS_BYTES),
  crowdPhase,
];

/**
 * Once, before the rounds: warms up with small files, and then watches the memory in the first
 * large uploads of a process. In later ones, memory that the first have left behind would hide the
 * growth.
 */
export async function memoryPhase(round: Round, subject: Subject): Promise<void> {
  await transfer(round, subject, { kind: 'chat' });
  await transfer(round, subject, SMALL_UPLOAD);
  const before = heldRssMb(subject);
  const rss = watchRss(subject, RSS_POLL_MS);
  await transfer(round, subject, UPLOAD);
  for (const [role, mb] of rss()) {
    round.samples.add(subject.name, `memory.growth.${role}`, mb - (before.get(role) ?? 0));
  }
}

/** Rates and costs count only the file or the numbers, without their encoding on the wire. */
function transferPhase(name: string, call: Call, fileBytes: number): Phase {
  return async (round, subject) => {
    const { samples } = round;
    const before = usedCpuMs(subject);
    const { requests, seconds, latencyMs } = await transfer(round, subject, call);
    const mib = (requests * fileBytes) / MIB;
    samples.add(subject.name, `${name}.rate`, mib / seconds);
    samples.add(subject.name, `${name}.p50`, latencyMs.p50);
    addCpu({ samples, subject, before, metric: `${name}.cpu`, per: mib });
  };
}

function transfer(
  { generator, durationMs }: Round,
  target: Subject,
  call: Call,
): Promise<RequestsResult> {
  const maxRequests = call === UPLOAD || call === IMAGE ? MAX_LARGE : MAX_SMALL;
  const load = { call, connections: CONNECTIONS, durationMs, maxRequests };
  return generator.run({ kind: 'closed', target, ...load });
}

/** One chat stream alone, and then with many concurrent uploads. */
async function crowdPhase(round: Round, subject: Subject): Promise<void> {
  const { samples, uploader, streamMs: durationMs } = round;
  const { name } = subject;
  const alone = await gapP99(round, subject);
  const rss = watchRss(subject, RSS_POLL_MS);
  const load = { connections: CROWD, durationMs, maxRequests: Number.MAX_SAFE_INTEGER };
  const [{ requests, seconds }, gap] = await Promise.all([
    uploader.run({ kind: 'closed', target: subject, call: UPLOAD, ...load }),
    gapP99(round, subject),
  ]);
  samples.add(name, 'alone.gap', alone);
  samples.add(name, 'crowd.gap', gap);
  samples.add(name, 'crowd.added', gap - alone);
  samples.add(name, 'crowd.rate', (requests * UPLOAD_BYTES) / MIB / seconds);
  for (const [role, mb] of rss()) samples.add(name, `crowd.rss.${role}`, mb);
}

/** The uploads go on for at least as long as the stream, and so reach every one of its gaps. */
async function gapP99({ generator, streamMs }: Round, target: Subject): Promise<number> {
  const chunks = Math.ceil(streamMs / TOKEN_INTERVAL_MS);
  const stream = { streams: 1, chunks, intervalMs: TOKEN_INTERVAL_MS };
  return (await generator.run({ kind: 'streams', target, ...stream })).gapMs.p99;
}
