/**
 * Small questions to a local server: what it is and what it serves. Never one that wakes a model.
 */
import fetch from 'node-fetch';
import { parseJson } from '../openai-wire/json.js';
import { authorization } from './authorization.js';
import type { KeyScheme } from './authorization.js';
import { connectionFailure } from './failure.js';

export interface ProbeOptions {
  readonly apiKey: string | null;
  readonly keyScheme?: KeyScheme;
  readonly signal: AbortSignal;
  /** Sent as a POST where it is given. */
  readonly body?: unknown;
  /** Asks whether there is such a path at all. */
  readonly method?: 'OPTIONS';
}

export interface ProbeAnswer {
  readonly status: number;
  /** The `Server` header. */
  readonly server: string;
  readonly text: string;
  /** Undefined where the body is not JSON. */
  readonly json: unknown;
}

/** Model lists in the field reach a few hundred kilobytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Follows no redirects. Throws a `LocalFailure`, for the signal's timeout too, or its other
 * reasons.
 */
export async function probe(url: string, options: ProbeOptions): Promise<ProbeAnswer> {
  const { apiKey, keyScheme, signal, body, method = 'GET' } = options;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    // Between two polls the server may drop an idle connection, which would look like an outage.
    connection: 'close',
    ...authorization(apiKey, keyScheme),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const asked = body === undefined ? { method } : { method: 'POST', body: JSON.stringify(body) };
  try {
    const answer = await fetch(url, {
      ...asked,
      headers,
      signal,
      redirect: 'manual',
      size: MAX_BODY_BYTES,
    });
    const server = answer.headers.get('server') ?? '';
    const text = await answer.text();
    return { status: answer.status, server, text, json: parseJson(text) };
  } catch (error) {
    throw signal.aborted ? abortReason(signal) : connectionFailure(error);
  }
}

function abortReason(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason;
  const timedOut = reason instanceof Error && reason.name === 'TimeoutError';
  return timedOut ? connectionFailure(reason) : reason;
}
