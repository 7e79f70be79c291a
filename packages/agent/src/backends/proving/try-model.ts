/** One tiny real request to a model, its answer read to the end and looked at. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { LocalFailure, LocalRefusal } from '../backend.js';
import type { Backend, DocumentAnswer, ServiceConfig } from '../backend.js';
import { readTrialAnswer } from './read-trial-answer.js';
import { tinyCall } from './tiny-call.js';

/** A model of a service that is up. */
export interface Subject {
  readonly config: ServiceConfig;
  readonly backend: Backend;
  readonly model: AdvertisedModel;
}

/** What came of it. */
export interface Trial {
  readonly ok: boolean;
  /** Why it is not; null where it is. */
  readonly reason: string | null;
  /** It came to no answer at all, which says nothing of the model. */
  readonly cut: 'unreachable' | 'stopped' | null;
  /** What a server does that has only begun, and says little of the model; null otherwise. */
  readonly early: 'closed' | 'loading' | null;
  /** Null where not a byte came. */
  readonly firstByteMs: number | null;
  readonly ms: number;
  /** Of the answer, where the server counts them. */
  readonly tokens: number | null;
  readonly bytes: number;
  /** Of a WAV file; null for all else. */
  readonly seconds: number | null;
}

/** A large model may have to be read from a slow disk first. */
export const TRIAL_LIMITS_MS: Readonly<Record<ServiceType, number>> = {
  llm: 300_000,
  stt: 120_000,
  tts: 120_000,
  image: 600_000,
  video: 1_800_000,
  music: 900_000,
};

export interface TrialTerms {
  readonly limitMs: number;
  readonly stop: AbortSignal;
  /** Told of the request: the card is busy until it is over, which may be long after the trial. */
  readonly began?: (call: Promise<unknown>) => void;
}

/** Never rejects: what went wrong is the result. It is told at the limit, or when stopped. */
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
    const call = { ...tinyCall(config.type, model), signal };
    const called = backend.call(call);
    began?.(called);
    const answer = await Promise.race([called, rejectedWith(signal)]);
    const { fault, ...came } = await readTrialAnswer(answer, call.endpoint, elapsed);
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

/** 503 in all of them; llama.cpp's words, whatever is in front of it. */
function saysLoading({ status, json }: DocumentAnswer): boolean {
  return status === 503 || (status >= 500 && /\bloading model\b/i.test(json));
}
