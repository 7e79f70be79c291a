/** Every request that the page makes: with the session's cookie, which the browser adds itself. */
import { readFault, unreachable } from './fault.js';
import { SESSION, sessionEnded } from './session.js';

/** The mount of `/v1` with the session as authentication. */
export const CONSOLE = '/api/console/v1';

/** Where 401 is about a password, and not about the session. */
const PASSWORD_PATHS = [SESSION, `${CONSOLE}/password`];

/** The whole answer, whatever its status but 401, which ends the session here as well. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init).catch((error: unknown) => {
    // Whoever aborts knows why.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  });
  if (response.status === 401 && !PASSWORD_PATHS.includes(path)) sessionEnded();
  return response;
}

/** An answer that is OK. Throws a `Fault`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await send(path, init);
  if (response.ok || response.status === 304) return response;
  throw await readFault(response);
}

/** Throws a `Fault`. An empty answer is null. */
export async function requestJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  const text = await (await request(path, init)).text();
  return (text === '' ? null : JSON.parse(text)) as T;
}

export function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return requestJson<T>(path, jsonInit(body, signal));
}

export function jsonInit(body: unknown, signal?: AbortSignal): RequestInit {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  };
}
