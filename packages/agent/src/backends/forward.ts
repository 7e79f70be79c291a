/**
 * The forwarded request. undici carries it (2.5 times node-fetch's throughput, measured) with its
 * own timeouts off: deadlines are the coordinator's and arrive as the signal, which closes the
 * connection and so stops the GPU.
 */
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { ByteSource } from '../openai-wire/stream-events.js';
import type { RawAnswer } from '../openai-wire/local-answer.js';
import { connectionFailure } from './failure.js';

export interface ForwardRequest {
  readonly url: string;
  /** The local server's own key; the caller's never comes here. */
  readonly apiKey: string | null;
  readonly body: string;
  readonly signal: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Below the 5 s after which llama-server and uvicorn drop an idle connection under our feet. */
const KEEP_ALIVE_MS = 2_000;
/** How long an answer that is over may take to say so, before its connection is given up. */
const DRAIN_MS = 1_000;

/** One pool for all local servers; it follows no redirects. */
const pool = new Agent({
  connect: { timeout: CONNECT_TIMEOUT_MS },
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
});

export interface ForwardedAnswer extends RawAnswer {
  readonly body: AnswerBody;
}

/** Throws a `LocalFailure`, or what the signal was aborted with. */
export async function forward(forwarded: ForwardRequest): Promise<ForwardedAnswer> {
  const { url, apiKey, body, signal } = forwarded;
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  };
  try {
    const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: pool });
    return { status: answer.statusCode, body: new AnswerBody(answer.body, signal) };
  } catch (error) {
    signal.throwIfAborted();
    throw connectionFailure(error);
  }
}

type ResponseBody = Dispatcher.ResponseData['body'];

class AnswerBody implements ByteSource {
  readonly #body: ResponseBody;
  readonly #signal: AbortSignal;
  #finished = false;

  constructor(body: ResponseBody, signal: AbortSignal) {
    this.#body = body;
    this.#signal = signal;
    // A body that is destroyed while nobody reads it would otherwise end the process.
    body.on('error', () => undefined);
  }

  finished(): void {
    this.#finished = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#body.iterator({ destroyOnReturn: false });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw connectionFailure(error);
    } finally {
      this.#release();
    }
  }

  /**
   * An answer left half read closes its connection: that is how the local server learns to stop.
   */
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
