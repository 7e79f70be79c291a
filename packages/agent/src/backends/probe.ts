/** Small requests to a local server: what it is and what it serves. None of them loads a model. */
import fetch from 'node-fetch';
import { parseJson } from '../openai-wire/json.js';
import { authorization, connectionFailure } from './forward.js';
import type { KeyScheme } from './forward.js';
import { LocalFailure } from './backend.js';

export interface ProbeOptions {
  readonly apiKey: string | null;
  readonly keyScheme?: KeyScheme;
  readonly signal: AbortSignal;
  /** Sent as a POST if present. */
  readonly body?: unknown;
  /** OPTIONS asks whether the path exists. Absent: GET, or POST with a body. */
  readonly method?: 'OPTIONS' | 'DELETE';
}

export interface ProbeAnswer {
  readonly status: number;
  /** The `Server` header. */
  readonly server: string;
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

/** Real model lists reach a few hundred kilobytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Follows no redirects. Throws a `LocalFailure`, also for the signal's timeout, or its other abort
 * reasons.
 */
export async function probe(url: string, options: ProbeOptions): Promise<ProbeAnswer> {
  const { apiKey, keyScheme, signal, body } = options;
  const { method = body === undefined ? 'GET' : 'POST' } = options;
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    // Between two polls the server may drop an idle connection, which would look like an outage.
    connection: 'close',
    ...authorization(apiKey, keyScheme),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const asked = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
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

/** The root of a local server's own paths: base URLs are accepted with and without `/v1`. */
export function serverRoot(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}

// Whether a local server can serve, according to its answer to a probe.

/** Throws a `LocalFailure` that tells the owner what to do. `trusted` accepts any other status. */
export function checkAnswer(
  { status }: ProbeAnswer,
  url: string,
  { trusted = false }: { trusted?: boolean } = {},
): void {
  if (status === 401 || status === 403) {
    throw new LocalFailure(
      'LOCAL_ERROR',
      `${url} answered ${status}. Set its key with api_key_file.`,
    );
  }
  if (status === 503) {
    throw new LocalFailure('LOCAL_UNREACHABLE', `${url} answered 503: it is still loading.`);
  }
  if (status >= 500 || (status >= 300 && !trusted)) {
    throw new LocalFailure('LOCAL_ERROR', `${url} answered ${status}. Check the base URL.`);
  }
}
