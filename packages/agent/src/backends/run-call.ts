/**
 * One request to any server that speaks OpenAI's API, from the caller's body to the clean answer.
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
  /** With `/v1`, where the server has it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly dropFields: ReadonlySet<string>;
  /** What is special about the server; absent where nothing is. */
  readonly dialect?: Dialect;
  /** Of a server that names its own model in answers: what it may call it. */
  readonly names?: ReadonlySet<string> | null;
}

/** Chat and completions. Throws a `LocalFailure`, or what the call's signal was aborted with. */
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
    // Some versions name what they were asked for.
    const names = target.names && new Set([...target.names, call.model.served_name]);
    return await readAnswer(raw, { ...request.form, wire, ...(names && { names }) });
  } catch (error) {
    // What makes no sense is not read to its end, which may never come.
    raw.body.abandon();
    throw error;
  }
}

// For local servers that compute on when their caller leaves.

/** A server that does not end by itself is given up after this time. */
const WIND_DOWN_MS = 10 * 60_000;

/**
 * Acts to its end although the caller leaves meanwhile: the card is busy until then, and so is its
 * slot. Throws what `act` throws, or, once it has ended, what the caller's signal was aborted with.
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
 * Like `forward`, to a server that neither notices that its caller has left nor can be told: it
 * answers once it has computed all, and then its card is free.
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
    // The rest is only to be fetched.
    caller.addEventListener('abort', () => connection.abort(caller.reason), { once: true });
    return answer;
  } catch (error) {
    connection.abort(error);
    throw error;
  }
}
