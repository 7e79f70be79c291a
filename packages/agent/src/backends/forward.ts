/**
 * Forwards a request with undici (2.5 times node-fetch's throughput, measured), with undici's own
 * timeouts off: the coordinator sets deadlines, which arrive as the signal. The signal closes the
 * connection, which stops the GPU.
 */
import { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
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

/** Bytes of an answer that wait for their reader; beyond, its server is not read on. */
const MAX_HELD_BYTES = 128 * 1024;

/** One pool for all local servers; it follows no redirects. */
let pool: Agent | null = null;

/** Loaded on demand: commands that forward nothing would spend a fifth of their start on undici. */
export async function loadClient(): Promise<Agent> {
  if (pool !== null) return pool;
  const { Agent: Pool } = await import('undici');
  pool ??= new Pool({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  return pool;
}

/** The bytes of an answer, in the order of their arrival. */
interface AnswerBody extends ByteSource {
  /** Closes the connection of a half-read answer: this tells the local server to stop. */
  abandon(): void;
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
export async function forward(request: ForwardRequest): Promise<ForwardedAnswer> {
  const sending = new Sending(request.body, request.signal);
  const { origin, pathname, search } = new URL(request.url);
  const exchange = new Exchange(sending, request.signal);
  const headers = { ...sending.headers, ...authorization(request.apiKey, request.keyScheme) };
  const method = sending.body === null ? 'GET' : 'POST';
  const options = { origin, path: pathname + search, method, headers, body: sending.body } as const;
  (pool ?? (await loadClient())).dispatch(options, exchange);
  return exchange.answer;
}

/** Sends a request's body, and keeps the reason if it stops early. */
class Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable | null;
  readonly #signal: AbortSignal;
  #broken: { readonly reason: unknown } | null = null;

  constructor(body: ForwardRequest['body'], signal: AbortSignal) {
    this.#signal = signal;
    if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) {
      this.headers = body === null ? PLAIN_HEADERS : JSON_HEADERS;
      this.body = body;
      return;
    }
    const { contentType, bytes, chunks } = body;
    const form = { 'content-type': contentType, 'content-length': String(bytes) };
    this.headers = { ...form, ...PLAIN_HEADERS };
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

const PLAIN_HEADERS = { 'accept-encoding': 'identity' };
const JSON_HEADERS = { 'content-type': 'application/json', ...PLAIN_HEADERS };

type Read = IteratorResult<Uint8Array, undefined>;
/** How an answer has ended. */
type Ending = { readonly fault: unknown } | 'whole';

/** Receives an answer, and holds its bytes for one reader. */
class Exchange implements Dispatcher.DispatchHandler, AnswerBody, AsyncIterator<Uint8Array> {
  readonly answer: Promise<ForwardedAnswer>;
  readonly #sending: Sending;
  readonly #signal: AbortSignal;
  #begin: (answer: ForwardedAnswer) => void = () => {};
  #refuse: (reason: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | null = null;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #reader: { resolve(read: Read): void; reject(reason: unknown): void } | null = null;
  #end: Ending | null = null;
  /** Bytes that still come are of no interest. */
  #isFinished = false;
  #draining: NodeJS.Timeout | undefined;

  constructor(sending: Sending, signal: AbortSignal) {
    this.#sending = sending;
    this.#signal = signal;
    this.answer = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.#refuse = reject;
    });
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) this.#stop();
  }

  onResponseStart(
    _: unknown,
    status: number,
    { 'content-type': type = '' }: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status >= 200) this.#begin({ status, contentType: String(type), body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.#isFinished) return;
    // All pieces of one read of the socket, of which a flood has hundreds, become one.
    if (this.#held.length === 0 && this.#reader !== null) queueMicrotask(this.#deliver);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= MAX_HELD_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended('whole');
  }

  onResponseError(_: unknown, error: Error): void {
    this.#ended({ fault: this.#sending.failure(error) });
  }

  next(): Promise<Read> {
    if (this.#held.length > 0) return Promise.resolve({ done: false, value: this.#take() });
    const end = this.#end;
    if (end === 'whole') return Promise.resolve(OVER);
    if (end !== null) return Promise.reject(end.fault);
    return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
  }

  /** The rest is not read. */
  return(): Promise<Read> {
    if (this.#isFinished) this.#drain();
    else this.abandon();
    return Promise.resolve(OVER);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  finished(): void {
    this.#isFinished = true;
  }

  abandon(): void {
    if (this.#end === null) this.#controller?.abort(new Error('the rest is not wanted'));
  }

  readonly #stop = (): void => this.abandon();

  #drain(): void {
    if (this.#end !== null) return;
    this.#take();
    this.#draining = setTimeout(() => this.abandon(), DRAIN_MS);
  }

  /** All bytes that are held. */
  #take(): Uint8Array {
    const [only = NOTHING, ...more] = this.#held;
    const bytes = more.length === 0 ? only : Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#controller?.paused === true) this.#controller.resume();
    return bytes;
  }

  #ended(end: Ending): void {
    this.#end = end;
    clearTimeout(this.#draining);
    this.#signal.removeEventListener('abort', this.#stop);
    if (end !== 'whole') this.#refuse(end.fault);
    this.#deliver();
  }

  /** Gives the waiting reader what there is. */
  readonly #deliver = (): void => {
    const reader = this.#reader;
    if (reader === null || (this.#held.length === 0 && this.#end === null)) return;
    this.#reader = null;
    if (this.#held.length > 0) reader.resolve({ done: false, value: this.#take() });
    else if (this.#end === 'whole') reader.resolve(OVER);
    else if (this.#end !== null) reader.reject(this.#end.fault);
  };
}

const NOTHING = new Uint8Array(0);
const OVER: Read = { done: true, value: undefined };

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
