/**
 * Callers that come when they come. A generator that waits for answers before it asks again asks
 * less while the gateway is slow, and so leaves out the very latencies that matter ("coordinated
 * omission"): here each call is due at a moment that was drawn before, and its latency counts from
 * then, even where the generator itself was late.
 */
import { Random } from '../fleet/random.js';
import { percentilesOf } from '../statistics.js';
import { chatRequest } from './chat-request.js';
import { Connection } from './connection.js';
import type { Job, OpenResult } from './job.js';
import { stampSpanMs } from './stamp.js';

type OpenJob = Extract<Job, { kind: 'open' }>;

export async function openLoad(job: OpenJob): Promise<OpenResult> {
  const tally: Tally = { addedMs: [], lateMs: [], errors: {} };
  const free: Connection[] = [];
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  for (const { dueMs, model } of arrivals(job)) {
    await untilTime(startedAt + dueMs);
    const call = { job, model, dueAt: startedAt + dueMs };
    underWay.push(oneCall(call, free, tally));
  }
  await Promise.all(underWay);
  for (const connection of free) connection.close();
  return {
    requests: underWay.length,
    seconds: (performance.now() - startedAt) / 1_000,
    latencyMs: percentilesOf(tally.addedMs),
    lateMs: percentilesOf(tally.lateMs),
    errors: tally.errors,
  };
}

/** Independent of each other, so many a second on average: the same ones with the same seed. */
export function* arrivals({ perSecond, durationMs, models, seed }: Omit<OpenJob, 'target'>) {
  const random = new Random(seed);
  const meanMs = 1_000 / perSecond;
  for (let dueMs = random.wait(meanMs); dueMs < durationMs; dueMs += random.wait(meanMs)) {
    yield { dueMs, model: models[random.below(models.length)] ?? '' };
  }
}

interface Tally {
  readonly addedMs: number[];
  readonly lateMs: number[];
  readonly errors: Record<string, number>;
}

interface OpenCall {
  readonly job: OpenJob;
  readonly model: string;
  readonly dueAt: number;
}

/** A connection is opened whenever none is free, so that no call waits for another. */
async function oneCall({ job, model, dueAt }: OpenCall, free: Connection[], tally: Tally) {
  const connection = free.pop() ?? new Connection(job.target.origin);
  const pieces: Buffer[] = [];
  tally.lateMs.push(performance.now() - dueAt);
  try {
    await connection.send(chatRequest(job.target, model), (bytes) => pieces.push(bytes));
    const tookMs = performance.now() - dueAt;
    const homeMs = stampSpanMs(Buffer.concat(pieces).toString('latin1'));
    if (homeMs === null) throw new Error('an answer without the times of its home');
    tally.addedMs.push(tookMs - homeMs);
    free.push(connection);
  } catch (error) {
    connection.close();
    const what = describe(error);
    tally.errors[what] = (tally.errors[what] ?? 0) + 1;
  }
}

/** The status and code of an answer, and not its message, of which there are many. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const status = /^answer (\d+)/.exec(text)?.[1];
  const code = /"code": ?"([^"]+)"/.exec(text)?.[1] ?? 'no code';
  return status === undefined ? text : `${status} ${code}`;
}

/** Timers count whole milliseconds and are late rather than early; the lateness is reported. */
async function untilTime(atMs: number): Promise<void> {
  const leftMs = atMs - performance.now();
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
