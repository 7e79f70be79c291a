/** Asynchronous jobs and batches: from their submission to what became of them. */
import { setTimeout as pause } from 'node:timers/promises';
import { percentilesOf } from '../statistics.js';
import { batch, fileBatch, fileUpload, stampedSubmission, submission } from './chat-request.js';
import { Connection } from './connection.js';
import type { Job, RequestsResult, Target } from './job.js';
import { get } from './post.js';
import { stampAgeMs } from './stamp.js';

/** Fine enough for what takes a tenth of a second, and no load to speak of. */
const POLL_MS = 10;
/** A file takes minutes, and each look counts its jobs. */
const FILE_POLL_MS = 250;
/** A load that has not ended by then never will. */
const MAX_POLLS = 12_000;

type Load<Kind extends Job['kind']> = Extract<Job, { kind: Kind }>;

export async function jobsLoad({ target, ...job }: Load<'jobs'>): Promise<RequestsResult> {
  const request = submission(target);
  const start = performance.now();
  let left = job.jobs;
  const worker = async (): Promise<void> => {
    const connection = new Connection(target.origin);
    while (left-- > 0) await connection.send(request);
    connection.close();
  };
  await Promise.all(Array.from({ length: job.connections }, worker));
  await untilIdle(target);
  const seconds = (performance.now() - start) / 1_000;
  await checkNoneFailed(target);
  return { requests: job.jobs, seconds, latencyMs: percentilesOf([]) };
}

export async function batchLoad({ target, items }: Load<'batch'>): Promise<RequestsResult> {
  const request = batch(target, items);
  const connection = new Connection(target.origin);
  const start = performance.now();
  await connection.send(request);
  await polled(async () => {
    const { data } = await ask<{ data: { status: string }[] }>(
      connection,
      get(target, '/v1/batches?limit=1'),
    );
    return data[0]?.status === 'DONE';
  });
  const seconds = (performance.now() - start) / 1_000;
  connection.close();
  await checkNoneFailed(target);
  return { requests: items, seconds, latencyMs: percentilesOf([]) };
}

export async function fileLoad({ target, lines }: Load<'file'>): Promise<RequestsResult> {
  const connection = new Connection(target.origin);
  const file = await ask<{ id: string }>(connection, await fileUpload(target, lines));
  const start = performance.now();
  const { id } = await ask<{ id: string }>(connection, fileBatch(target, file.id));
  await polled(async () => {
    const batch = await ask<FileBatch>(connection, get(target, `/v1/batches/${id}`));
    const { completed, failed } = batch.request_counts;
    if (failed > 0) throw new Error(`${failed} requests of a file failed`);
    return batch.status === 'completed' && completed === lines;
  }, FILE_POLL_MS);
  const seconds = (performance.now() - start) / 1_000;
  connection.close();
  return { requests: lines, seconds, latencyMs: percentilesOf([]) };
}

interface FileBatch {
  readonly status: string;
  readonly request_counts: { readonly completed: number; readonly failed: number };
}

interface StampedJob {
  readonly result?: { readonly choices: readonly { readonly message: { content: string } }[] };
}

/** Each waits for the end of the one before it: all slots are idle. */
export async function startLoad({ target, times }: Load<'starts'>): Promise<RequestsResult> {
  const request = stampedSubmission(target);
  const connection = new Connection(target.origin);
  const latenciesMs: number[] = [];
  const start = performance.now();
  for (let i = 0; i < times; i++) {
    const sentAt = performance.now();
    const { id } = await ask<{ id: string }>(connection, request);
    const job = await ask<StampedJob>(connection, get(target, `/v1/jobs/${id}?wait=30`));
    const ageMs = stampAgeMs(job.result?.choices[0]?.message.content ?? '');
    if (ageMs === null) throw new Error(`no time in the result of ${JSON.stringify(job)}`);
    latenciesMs.push(performance.now() - sentAt - ageMs);
  }
  const seconds = (performance.now() - start) / 1_000;
  connection.close();
  return { requests: times, seconds, latencyMs: percentilesOf(latenciesMs) };
}

export async function readLoad({ target, paths }: Load<'reads'>): Promise<RequestsResult> {
  const connection = new Connection(target.origin);
  const latenciesMs: number[] = [];
  const start = performance.now();
  for (const path of paths) {
    const request = get(target, path);
    const sentAt = performance.now();
    await connection.send(request);
    latenciesMs.push(performance.now() - sentAt);
  }
  const seconds = (performance.now() - start) / 1_000;
  connection.close();
  return { requests: paths.length, seconds, latencyMs: percentilesOf(latenciesMs) };
}

/** Nothing of the caller's waits or runs; the summary is the cheapest to ask. */
export async function untilIdle(target: Target): Promise<void> {
  const connection = new Connection(target.origin);
  const request = get(target, '/api/inference/queue/summary');
  await polled(async () => {
    const summary = await ask<{ queued: number; processing: number }>(connection, request);
    return summary.queued + summary.processing === 0;
  });
  connection.close();
}

async function polled(isOver: () => Promise<boolean>, everyMs = POLL_MS): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    if (await isOver()) return;
    await pause(everyMs);
  }
  throw new Error(`the jobs have not ended after ${MAX_POLLS} looks, ${everyMs} ms apart`);
}

/** Work that was not done must not count as fast. */
async function checkNoneFailed(target: Target): Promise<void> {
  const connection = new Connection(target.origin);
  const failed = await ask<{ data: unknown[] }>(
    connection,
    get(target, '/v1/jobs?status=FAILED&limit=1'),
  );
  connection.close();
  if (failed.data.length > 0) throw new Error(`a job failed: ${JSON.stringify(failed.data[0])}`);
}

/** The gateway's own answers are trusted to have the shape that its tests hold them to. */
async function ask<T>(connection: Connection, request: Buffer): Promise<T> {
  const pieces: Buffer[] = [];
  // A piece is a view of the socket's buffer, which is not written again.
  await connection.send(request, (bytes) => pieces.push(bytes));
  return JSON.parse(Buffer.concat(pieces).toString()) as T;
}
