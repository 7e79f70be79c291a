/**
 * Small questions to a local server: what it is and what it serves. Never one that wakes a model.
 */
import fetch from 'node-fetch';
import { parseJson } from '../openai-wire/json.js';
import { authorization, connectionFailure } from './forward.js';
import type { KeyScheme } from './forward.js';
import { LocalFailure } from './backend.js';

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

/** Where a local server's own paths begin: base URLs are accepted with and without `/v1`. */
export function serverRoot(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}

// Whether a local server is fit to serve, going by its answer to a probe.

/**
 * Throws a `LocalFailure` that tells the owner what to do. `trusted` lets any other status pass.
 */
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
