/** Sends one tiny real request to a model, reads its answer to the end and checks it. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import * as z from 'zod';
import { parseJson } from '../../openai-wire/json.js';
import { LocalFailure, LocalRefusal } from '../backend.js';
import type {
  Backend,
  DocumentAnswer,
  ServiceConfig,
  EventAnswer,
  LocalAnswer,
  MediaAnswer,
  LocalCall,
} from '../backend.js';
import { triedBy } from '../kinds.js';
import type { Proof, Tried } from '../kinds.js';

/** A model of a service that is up. */
export interface Subject {
  readonly config: ServiceConfig;
  readonly backend: Backend;
  readonly model: AdvertisedModel;
}

/** The result. */
export interface Trial {
  readonly ok: boolean;
  /** Why the model failed; null if it did not. */
  readonly reason: string | null;
  /** There was no complete answer, which says nothing of the model. */
  readonly cut: 'unreachable' | 'stopped' | null;
  /** Typical of a server that has just started, and says little of the model; null otherwise. */
  readonly early: 'closed' | 'loading' | null;
  /** Null if no byte arrived. */
  readonly firstByteMs: number | null;
  readonly ms: number;
  /** Tokens of the answer, if the server counts them. */
  readonly tokens: number | null;
  readonly bytes: number;
  /** Length of a WAV file; null for everything else. */
  readonly seconds: number | null;
}

/** The server may first have to read a large model from a slow disk. */
export const TRIAL_LIMITS_MS: Readonly<Record<ServiceType, number>> = {
  llm: 300_000,
  stt: 120_000,
  tts: 120_000,
  image: 600_000,
  video: 1_800_000,
  music: 900_000,
  embedding: 120_000,
  rerank: 120_000,
};

export interface TrialTerms {
  readonly limitMs: number;
  readonly stop: AbortSignal;
  /**
   * Receives the request's promise: the card is busy until it settles, perhaps long after the
   * trial.
   */
  readonly began?: (call: Promise<unknown>) => void;
}

/** Never rejects: a failure is a result. Resolves at the limit, or when stopped, at the latest. */
export async function tryModel(
  { config, backend, model }: Subject,
  { limitMs, stop, began }: TrialTerms,
): Promise<Trial> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException(TOO_LONG, 'AbortError')), limitMs);
  const signal = AbortSignal.any([stop, limit.signal]);
  try {
    signal.throwIfAborted();
    const tried = triedBy(config.type);
    const call = tinyCall(tried, model, signal);
    const called = backend.call(call);
    began?.(called);
    const answer = await Promise.race([called, rejectedWith(signal)]);
    const { fault, ...came } = await readTrialAnswer(answer, tried, elapsed);
    const early = answer.kind === 'document' && saysLoading(answer) ? 'loading' : null;
    const reason = fault ?? (await backend.unfit?.(model, signal)) ?? null;
    return { ok: reason === null, reason, cut: null, early, ms: elapsed(), ...came };
  } catch (error) {
    const tooLong = `${TOO_LONG} within ${limitMs / 1_000} s`;
    const reason = limit.signal.aborted ? tooLong : (error as Error).message;
    const cut = stop.aborted ? 'stopped' : cutBy(error);
    const early = cut === null ? earlyBy(error) : null;
    return { ok: false, reason, cut, early, ms: elapsed(), ...NOTHING };
  } finally {
    clearTimeout(timer);
  }
}

function rejectedWith(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
}

const TOO_LONG = 'no whole answer';

const NOTHING = { firstByteMs: null, tokens: null, bytes: 0, seconds: null };

function cutBy(error: unknown): Trial['cut'] {
  const isGone = error instanceof LocalFailure && error.code === 'LOCAL_UNREACHABLE';
  return isGone ? 'unreachable' : null;
}

function earlyBy(error: unknown): Trial['early'] {
  if (error instanceof LocalRefusal) return saysLoading(error.answer) ? 'loading' : null;
  return error instanceof LocalFailure && error.isBrokenOff ? 'closed' : null;
}

/** All of them answer 503; the text is llama.cpp's, also behind a proxy. */
function saysLoading({ status, json }: DocumentAnswer): boolean {
  return status === 503 || (status >= 500 && /\bloading model\b/i.test(json));
}

// Whether an answer has the form that its endpoint promises; it is read to its end in any case.
interface TrialAnswer {
  /** What is wrong with it; null if nothing is. */
  readonly fault: string | null;
  readonly firstByteMs: number | null;
  readonly tokens: number | null;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** Throws the errors of reading it. */
async function readTrialAnswer(
  answer: LocalAnswer,
  { endpoint, proof }: Tried,
  elapsed: () => number,
): Promise<TrialAnswer> {
  if (answer.kind === 'document') return readDocument(answer, proof, elapsed());
  if (answer.kind === 'vectors') {
    return readDocument(
      { ...answer, json: Buffer.concat(answer.json).toString() },
      proof,
      elapsed(),
    );
  }
  if (answer.kind === 'events') return readEvents(answer, proof, elapsed);
  return readMedia(answer, ENDPOINTS[endpoint].media, elapsed);
}

const failure = z.object({ error: z.object({ message: z.string() }) });

function readDocument(
  { status, json, usage }: Omit<DocumentAnswer, 'kind'>,
  { isWhole }: Proof,
  firstByteMs: number,
): TrialAnswer {
  const came = { firstByteMs, bytes: Buffer.byteLength(json), seconds: null };
  const tokens = usage?.completion_tokens ?? null;
  const document = parseJson(json);
  const error = failure.safeParse(document).data?.error.message;
  if (status >= 400 || error !== undefined) {
    return { ...came, tokens, fault: `the local server refused it (${status}): ${error ?? json}` };
  }
  return { ...came, tokens, fault: isWhole(document, tokens) ? null : EMPTY };
}

const EMPTY = 'the local server answered without a result';

async function readEvents(
  { events }: EventAnswer,
  { isWhole }: Proof,
  elapsed: () => number,
): Promise<TrialAnswer> {
  let firstByteMs: number | null = null;
  let bytes = 0;
  let isSaid = false;
  let error: string | null = null;
  let next = await events.next();
  for (; next.done !== true; next = await events.next()) {
    firstByteMs ??= elapsed();
    bytes += Buffer.byteLength(next.value);
    for (const chunk of chunksOf(next.value)) {
      isSaid ||= isWhole(chunk, null);
      error ??= failure.safeParse(chunk).data?.error.message ?? null;
    }
  }
  const tokens = next.value?.completion_tokens ?? null;
  const fault = error ?? (isSaid || isWhole(null, tokens) ? null : EMPTY);
  return { fault, firstByteMs, tokens, bytes, seconds: null };
}

function chunksOf(events: string): unknown[] {
  return events.split('\n\n').map((event) => parseJson(event.replace(/^data: /, '')));
}

/** A WAV header: the offset of the number of bytes per second, and its length in bytes. */
const WAV = { bytesASecondAt: 28, headBytes: 44 };

async function readMedia(
  { parts }: MediaAnswer,
  family: MediaFamily | null,
  elapsed: () => number,
): Promise<TrialAnswer> {
  let firstByteMs: number | null = null;
  let bytes = 0;
  let start = Buffer.alloc(0);
  for await (const part of parts) {
    for await (const piece of part.bytes) {
      firstByteMs ??= elapsed();
      bytes += piece.length;
      if (start.length < WAV.headBytes) start = Buffer.concat([start, piece]);
    }
  }
  const fault = faultOfFile(start, family);
  return { fault, firstByteMs, tokens: null, bytes, seconds: secondsOf(start, bytes) };
}

function faultOfFile(start: Buffer, family: MediaFamily | null): string | null {
  if (start.length === 0) return EMPTY;
  const format = detectFormat(start);
  const isRight = format !== null && family !== null && contentTypeOf(format, family) !== null;
  return isRight ? null : `the local server answered something that is no ${family ?? 'file'}`;
}

function secondsOf(start: Buffer, bytes: number): number | null {
  if (detectFormat(start) !== 'wav' || start.length < WAV.headBytes) return null;
  const bytesASecond = start.readUInt32LE(WAV.bytesASecondAt);
  if (bytesASecond === 0) return null;
  return Math.round(((bytes - WAV.headBytes) / bytesASecond) * 100) / 100;
}

/** The smallest request that proves that a model works; new each time. */
function tinyCall(
  { endpoint, proof }: Tried,
  model: AdvertisedModel,
  signal: AbortSignal,
): LocalCall {
  const body = { model: model.id, ...proof.fields };
  const uploads = proof.uploads?.() ?? [];
  return { endpoint, model, body, uploads, requestId: 'test', signal };
}
