/**
 * One run: reads the body, asks the local server, sends the answer. Its only catch block turns
 * failures into RESET.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { NO_COST, costOf } from '@inference-gateway/shared/protocol/messages';
import type { AdvertisedModel, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import { LocalFailure, LocalRefusal } from '../backends/backend.js';
import type {
  DocumentAnswer,
  EventAnswer,
  LocalAnswer,
  MediaAnswer,
  VectorAnswer,
} from '../backends/backend.js';
import type { CatalogEntry } from '../backends/catalog/catalog.js';
import { callInSequences } from '../backends/sequences.js';
import type { RequestBodies } from '../backends/request-bodies.js';
import { SpoolFull } from './spool-room.js';
import type { StopReason, Work } from './work.js';

/** While a model loads no data arrives: PROGRESS keeps the coordinator's first-byte timer alive. */
const PROGRESS_MS = 10_000;
/**
 * The upper limit for any run, also if the coordinator sets a later deadline or none: three times
 * the default limit of a video.
 */
export const LONGEST_RUN_MS = 6 * 3_600_000;

export interface RunHost {
  readonly logger: Logger;
  readonly bodies: RequestBodies;
  /** The number of slots taken for it. */
  readonly slots: number;
  /** The local server refused the connection: its models leave the list at once. */
  unreachable(reason: string): void;
}

export async function run(work: Work, entry: CatalogEntry, host: RunHost): Promise<void> {
  const { open } = work;
  const deadline = setTimeout(() => work.stop('deadline'), limitOf(open.deadline_ms));
  const startedAt = performance.now();
  const sent: Sent = { usage: () => null };
  try {
    await answer(work, entry, { ...host, sent });
    const ms = Math.round(performance.now() - startedAt);
    const { request_id: req, model, caller } = open;
    host.logger.info({ req, model, caller: caller.name, ms }, 'served');
  } catch (error) {
    report(work, error, { host, usage: sent.usage() });
  } finally {
    clearTimeout(deadline);
  }
}

/** In ms, for a run with this deadline; 0: the coordinator sets none. */
export function limitOf(deadlineMs: number): number {
  return Math.min(deadlineMs || LONGEST_RUN_MS, LONGEST_RUN_MS);
}

/** The sent part of an unfinished answer. */
interface Sent {
  usage: () => TokenUsage | null;
}

async function answer(
  work: Work,
  entry: CatalogEntry,
  { slots, bodies, sent }: Pick<RunHost, 'slots' | 'bodies'> & { readonly sent: Sent },
): Promise<void> {
  const { open, signal } = work;
  const model = entry.models.find((candidate) => candidate.id === open.model);
  if (model === undefined) throw new LocalFailure('LOCAL_ERROR', `${open.model} is gone`);
  const bytes = await work.request.body;
  const { fault, uploads, values } = work.request;
  const { endpoint, caller, request_id: requestId, reasoning_field: reasoningField } = open;
  const { messages } = entry.backend;
  const read = await bodies.read(
    bytes,
    { endpoint, messages },
    { values, fault, caller: caller.name },
  );
  if (read.kind === 'refused') return send(work, read.answer, () => {});
  signal.throwIfAborted();
  const asked = reasoningField === undefined ? {} : { reasoningField };
  const { kind: _checked, ...checked } = read;
  const call = { endpoint, model, ...checked, uploads, requestId, signal, ...asked };
  const stopProgress = reportLoading(work, model);
  try {
    const reply = await callInSequences(entry.backend, call, slots);
    if (reply.kind === 'events') await sendEvents(work, reply, { begun: stopProgress, sent });
    else await send(work, reply, stopProgress);
  } finally {
    stopProgress();
  }
}

async function send(
  work: Work,
  reply: Exclude<LocalAnswer, EventAnswer>,
  begun: () => void,
): Promise<void> {
  if (reply.kind === 'media') return sendMedia(work, reply, begun);
  return sendDocument(work, reply);
}

async function sendDocument(
  work: Work,
  { status, json, usage }: DocumentAnswer | VectorAnswer,
): Promise<void> {
  work.head(status, 'application/json');
  const pieces = typeof json === 'string' ? [Buffer.from(json)] : json;
  for (const piece of pieces) await work.data(piece);
  work.signal.throwIfAborted();
  work.end(costOf({ usage }));
}

/** HEAD is sent with the first event: until then another provider can take over. */
async function sendEvents(
  work: Work,
  reply: EventAnswer,
  { begun, sent }: { readonly begun: () => void; readonly sent: Sent },
): Promise<void> {
  const { events } = reply;
  try {
    let next = await events.next().catch(refusalIn);
    if ('kind' in next) return await sendDocument(work, next);
    if (next.done === true) {
      throw new LocalFailure('LOCAL_ERROR', 'the stream ended before its first event');
    }
    begun();
    work.head(200, 'text/event-stream');
    sent.usage = () => reply.soFar();
    for (; next.done !== true; next = await events.next()) {
      await work.data(Buffer.from(next.value));
      work.signal.throwIfAborted();
    }
    work.end(costOf({ usage: next.value }));
  } finally {
    await events.return(null);
  }
}

/** Rethrows other errors. */
function refusalIn(error: unknown): DocumentAnswer {
  if (error instanceof LocalRefusal) return error.answer;
  throw error;
}

/** HEAD is sent with the first file, for the same reason. */
async function sendMedia(work: Work, { parts }: MediaAnswer, begun: () => void): Promise<void> {
  let isFirst = true;
  for await (const part of parts) {
    if (isFirst) {
      begun();
      work.head(200, 'multipart/mixed');
    }
    isFirst = false;
    work.part(part);
    for await (const bytes of part.bytes) {
      await work.data(bytes);
      work.signal.throwIfAborted();
    }
  }
  if (isFirst) throw new LocalFailure('LOCAL_ERROR', 'the local server answered without a file');
  work.end(NO_COST);
}

function reportLoading(work: Work, model: AdvertisedModel): () => void {
  if (model.loaded !== false) return () => {};
  work.progress('loading');
  const timer = setInterval(() => work.progress('loading'), PROGRESS_MS);
  return () => clearInterval(timer);
}

function report(
  work: Work,
  error: unknown,
  { host, usage }: { readonly host: RunHost; readonly usage: TokenUsage | null },
): void {
  const cost = costOf({ usage });
  if (work.signal.aborted) {
    return work.fail(...stopCode(work.signal.reason as StopReason), cost);
  }
  if (error instanceof LocalFailure) {
    host.logger.warn({ req: work.open.request_id, reason: error.message }, 'local server failed');
    if (error.code === 'LOCAL_UNREACHABLE') host.unreachable(error.message);
    return work.fail(error.code, error.message, cost);
  }
  if (error instanceof SpoolFull) {
    host.logger.warn({ err: error, req: work.open.request_id }, 'the spool takes no more');
    return work.fail('INTERNAL', error.message, cost);
  }
  host.logger.error({ err: error, req: work.open.request_id }, 'run failed');
  return work.fail('INTERNAL', 'the agent failed', cost);
}

function stopCode(reason: StopReason): ['CANCELED' | 'DEADLINE' | 'YIELDED', string] {
  if (reason === 'deadline') return ['DEADLINE', 'the time limit passed'];
  return reason === 'yielded' ? ['YIELDED', 'the owner took the card back'] : ['CANCELED', ''];
}
