/** Data about an answer: provider, times, tokens, and its error. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Fault } from '../../api/fault.js';

export interface RunFacts {
  /** The public name of the provider; null if none has answered. */
  readonly provider: string | null;
  readonly queueMs: number | null;
  readonly requestId: string | null;
  /** Time until the first token, or until the whole file. */
  readonly firstMs: number | null;
  readonly totalMs: number;
  readonly tokens: Tokens | null;
  /** Tokens per second, from the first token on. */
  readonly tokensPerSecond: number | null;
}

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

/** Times of `performance.now()`. */
export interface Marks {
  readonly sentAt: number;
  /** Null before the first token. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

interface Finished {
  readonly marks: Marks;
  readonly endedAt: number;
  readonly tokens: Tokens | null;
}

/** The facts of an answer, with the headers that preceded it. */
export function factsOf(headers: Pick<Headers, 'get'>, run: Finished): RunFacts {
  const { marks, endedAt, tokens } = run;
  const provider = headers.get('x-provider');
  const queueMs = headers.get('x-queue-ms');
  return {
    provider: provider === null ? null : decodeURIComponent(provider),
    queueMs: queueMs === null ? null : Number(queueMs),
    requestId: headers.get('x-request-id'),
    firstMs: marks.firstAt === null ? null : marks.firstAt - marks.sentAt,
    totalMs: endedAt - marks.sentAt,
    tokens,
    tokensPerSecond: tokens === null ? null : speedOf(tokens.completion, marks, endedAt),
  };
}

/** Shorter spans measure how the network grouped the tokens, not the model. */
const MIN_SPAN_MS = 20;

/**
 * Measured from the first token to the last. If all tokens arrived at once, as from a server that
 * does not stream, the whole time counts.
 */
function speedOf(
  tokens: number,
  { sentAt, firstAt, lastAt }: Marks,
  endedAt: number,
): number | null {
  if (tokens <= 0) return null;
  const spanMs = firstAt === null || lastAt === null ? 0 : lastAt - firstAt;
  if (tokens > 1 && spanMs >= MIN_SPAN_MS) return ((tokens - 1) / spanMs) * 1_000;
  return (tokens / Math.max(1, endedAt - sentAt)) * 1_000;
}

/** The part of an error that is kept and shown in place of the answer. */
export interface Shown {
  readonly message: string;
  readonly code: string;
  readonly requestId: string | null;
  /** Unix ms; null if the answer does not say. */
  readonly retryAt: number | null;
}

export function shownOf({ message, code, requestId, retryAfterS }: Fault): Shown {
  const retryAt = retryAfterS === null ? null : SYSTEM_CLOCK.now() + retryAfterS * 1_000;
  return { message, code, requestId, retryAt };
}
