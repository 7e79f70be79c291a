/** For local servers that compute on when their caller leaves. */
import { forward } from './forward.js';
import type { ForwardedAnswer, ForwardRequest } from './forward.js';

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
