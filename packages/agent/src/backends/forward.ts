/**
 * Forwards a request with undici (2.5 times node-fetch's throughput, measured), with undici's own
 * timeouts off: the coordinator sets deadlines, which arrive as the signal. The signal closes the
 * connection, which stops the GPU.
 */
import { Readable } from 'node:stream';
import type { Agent, Dispatcher, request } from 'undici';
import type { ByteSource } from '../openai-wire/stream-events.js';
import type { RawAnswer } from '../openai-wire/local-answer.js';
import type { FormBody } from './multipart.js';
import { LocalFailure } from './backend.js';

export interface ForwardRequest {
  readonly url: string;
  /** The local server's own key; the caller's key is never sent to the agent. */
  readonly apiKey: string | null;
  readonly keyScheme?: KeyScheme;
  /** JSON, or a form, sent at the local server's pace; null fetches a file with GET. */
  readonly body: string | Buffer | FormBody | null;
  readonly signal: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Below the 5 s after which llama-server and uvicorn close an idle connection. */
const KEEP_ALIVE_MS = 2_000;

/** How long a finished answer may take to end its stream before its connection is closed. */
const DRAIN_MS = 1_000;

interface Client {
  readonly request: typeof request;
  /** One pool for all local servers; it follows no redirects. */
  readonly pool: Agent;
}

let client: Promise<Client> | null = null;

/** Loaded on demand: commands that forward nothing would spend a fifth of their start on undici. */
export function loadClient(): Promise<Client> {
  client ??= import('undici').then(({ Agent: Pool, request: send }) => {
    const pool = new Pool({
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
    return { request: send, pool };
  });
  return client;
}

export interface ForwardedAnswer extends RawAnswer {
  /** As the local server reports it, which is often wrong; empty if it reports none. */
  readonly contentType: string;
  readonly body: AnswerBody;
}

/**
 * Follows no redirects. Throws a `LocalFailure`, the signal's abort reason, or an error from
 * reading a file of the form.
 */
export async function forward(forwarded: ForwardRequest): Promise<ForwardedAnswer> {
  const { url, apiKey, keyScheme, signal } = forwarded;
  const loaded = await loadClient();
  const sending = new Sending(forwarded.body, signal);
  try {
    const answer = await loaded.request(url, {
      method: sending.body === null ? 'GET' : 'POST',
      headers: { ...sending.headers, ...authorization(apiKey, keyScheme) },
      body: sending.body,
      signal,
      dispatcher: loaded.pool,
    });
    const contentType = String(answer.headers['content-type'] ?? '');
    return { status: answer.statusCode, contentType, body: new AnswerBody(answer.body, sending) };
  } catch (error) {
    throw sending.failure(error);
  }
}

/** Sends a request's body, and keeps the reason if it stops early. */
class Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable | null;
  readonly #signal: AbortSignal;
  #broken: { readonly reason: unknown } | null = null;

  constructor(body: ForwardRequest['body'], signal: AbortSignal) {
    this.#signal = signal;
    const headers = { 'accept-encoding': 'identity' };
    if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) {
      this.headers = body === null ? headers : { 'content-type': 'application/json', ...headers };
      this.body = body;
      return;
    }
    const { contentType, bytes, chunks } = body;
    this.headers = { 'content-type': contentType, 'content-length': String(bytes), ...headers };
    this.body = Readable.from(this.#watched(chunks), { objectMode: false });
  }

  /** The first cause: the caller left, a file broke off, or else the local server failed. */
  failure(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    return this.#broken === null ? connectionFailure(error) : this.#broken.reason;
  }

  async *#watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (reason) {
      this.#broken = { reason };
      // A stream can only be destroyed with an error.
      throw reason instanceof Error ? reason : new Error('the file broke off', { cause: reason });
    }
  }
}

type ResponseBody = Dispatcher.ResponseData['body'];

class AnswerBody implements ByteSource {
  readonly #body: ResponseBody;
  readonly #sending: Sending;
  #finished = false;

  constructor(body: ResponseBody, sending: Sending) {
    this.#body = body;
    this.#sending = sending;
    // Without a listener, the error of a destroyed body would end the process.
    body.on('error', () => undefined);
  }

  finished(): void {
    this.#finished = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#body.iterator({ destroyOnReturn: false });
    } catch (error) {
      throw this.#sending.failure(error);
    } finally {
      this.#release();
    }
  }

  /** Closes the connection of a half-read answer: this tells the local server to stop. */
  abandon(): void {
    if (!this.#body.readableEnded) this.#body.destroy();
  }

  #release(): void {
    if (this.#body.readableEnded) return;
    if (!this.#finished) return this.abandon();
    const timer = setTimeout(() => this.#body.destroy(), DRAIN_MS);
    this.#body.once('close', () => clearTimeout(timer)).resume();
    return undefined;
  }
}

// How the agent sends a local server its key.

/** Almost all take a token; Stable Diffusion's web UI takes `user:password`. */
export type KeyScheme = 'bearer' | 'basic';

/** The header, if there is a key. */
export function authorization(
  apiKey: string | null,
  scheme: KeyScheme = 'bearer',
): { readonly authorization?: string } {
  if (apiKey === null) return {};
  if (scheme === 'bearer') return { authorization: `Bearer ${apiKey}` };
  return { authorization: `Basic ${Buffer.from(apiKey).toString('base64')}` };
}

// Classifies a failed connection to a local server.

/** No server listens there, or the host is unreachable. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const TIMED_OUT: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'TimeoutError',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The message travels to the coordinator, so it names no address of the home network. */
export function connectionFailure(cause: unknown): LocalFailure {
  if (cause instanceof LocalFailure) return cause;
  const name = nameOf(cause);
  if (UNREACHABLE.has(name)) {
    const message = `cannot reach the local server (${name}). Is it running?`;
    return new LocalFailure('LOCAL_UNREACHABLE', message, { cause });
  }
  if (TIMED_OUT.has(name)) {
    return new LocalFailure('LOCAL_TIMEOUT', 'the local server did not answer in time.', { cause });
  }
  const message = `the local server broke off the connection (${name}).`;
  return new LocalFailure('LOCAL_ERROR', message, { cause });
}

/** The system's error code if there is one, possibly in `cause`, else the error's own name. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) ?? codeOf(error.cause) ?? error.name;
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
