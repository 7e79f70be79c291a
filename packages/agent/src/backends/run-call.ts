/**
 * One request to a server that speaks OpenAI's API, from the caller's body to the cleaned answer.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { notServed } from '../openai-wire/error-document.js';
import { readAnswer } from '../openai-wire/local-answer.js';
import { shapeRequest } from '../openai-wire/request-body.js';
import type { LocalAnswer, LocalCall } from './backend.js';
import type { Dialect } from './openai/dialect.js';
import { forward } from './forward.js';
import type { ForwardedAnswer, ForwardRequest } from './forward.js';
import { SERVED_KINDS } from './kinds.js';

export interface CallTarget {
  /** With `/v1`, if the server has it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly dropFields: ReadonlySet<string>;
  /** What is special about the server; absent if nothing is. */
  readonly dialect?: Dialect;
  /** Inputs of one request for vectors; absent: as many as callers may send. */
  readonly mostInputs?: number;
  /** For a server that names its own model in answers: the names that it may use. */
  readonly names?: ReadonlySet<string> | null;
}

/** Chat and completions. Throws a `LocalFailure`, or the signal's abort reason. */
export async function runCall(target: CallTarget, call: LocalCall): Promise<LocalAnswer> {
  const { path, kind } = ENDPOINTS[call.endpoint];
  const { wire } = SERVED_KINDS[kind];
  if (wire === null) return notServed(call);
  const request = shapeRequest(call, target.dropFields, target.dialect);
  const isLasting = target.dialect?.outlives?.includes(kind) === true;
  const raw = await (isLasting ? forwardToEnd : forward)({
    url: target.baseUrl + path,
    apiKey: target.apiKey,
    body: request.body,
    signal: call.signal,
  });
  try {
    // Some versions report the requested name.
    const names = target.names && new Set([...target.names, call.model.served_name]);
    return await readAnswer(raw, { ...request.form, wire, ...(names && { names }) });
  } catch (error) {
    // An invalid answer is not read to its end, which may never come.
    raw.body.abandon();
    throw error;
  }
}

// For local servers that continue to compute after their caller leaves.

/** The agent stops waiting after this time. */
const WIND_DOWN_MS = 10 * 60_000;

/**
 * Runs `act` to its end even if the caller leaves: until then the card is busy, and so is its slot.
 * Throws what `act` throws, or, once it has ended, the caller's abort reason.
 */
export async function outlive<T>(
  caller: AbortSignal,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    timer = setTimeout(() => own.abort(caller.reason), WIND_DOWN_MS);
  };
  caller.addEventListener('abort', leave, { once: true });
  if (caller.aborted) leave();
  try {
    return await act(own.signal);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener('abort', leave);
    caller.throwIfAborted();
  }
}

/**
 * Like `forward`, for a server that does not notice that its caller has left and has no way to
 * cancel: it answers after the whole computation, and then its card is free.
 */
export async function forwardToEnd(request: ForwardRequest): Promise<ForwardedAnswer> {
  const caller = request.signal;
  caller.throwIfAborted();
  const connection = new AbortController();
  try {
    const answer = await outlive(caller, (own) => {
      own.addEventListener('abort', () => connection.abort(own.reason), { once: true });
      return forward({ ...request, signal: connection.signal });
    });
    // After the headers only the body remains to be fetched.
    caller.addEventListener('abort', () => connection.abort(caller.reason), { once: true });
    return answer;
  } catch (error) {
    connection.abort(error);
    throw error;
  }
}
