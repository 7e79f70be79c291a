/** All requests of the page, with the session's cookie, which the browser adds itself. */
import { readFault, unreachable } from './fault.js';
import { sessionEnded } from './session.js';

/** The mount of `/v1` with the session as authentication. */
export const CONSOLE = '/api/console/v1';

/** On these paths a 401 may mean that something was typed wrong: the session goes on. */
const PASSWORD_PATHS = [
  'session',
  'session/passkey',
  'password',
  'password/reset',
  'oidc/start',
  'my/oidc.disconnect',
  'my/passkey.challenge',
  'my/passkey.remove',
].map((path) => `${CONSOLE}/${path}`);

/** Returns the answer with any status. A 401 also ends the session in this page. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init).catch((error: unknown) => {
    // An abort is passed on to the caller that caused it.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreachable();
  });
  if (response.status === 401 && !PASSWORD_PATHS.includes(path)) sessionEnded();
  return response;
}

/** Returns only an answer that is OK or 304. Throws a `Fault`. */
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
