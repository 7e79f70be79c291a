/**
 * A streamed answer. Headers go out with the first event or after a stretch of silence; from then
 * on silence is filled with comments, an error is an event, and the end is always `data: [DONE]`.
 */
import type { ApiError } from '@inference-gateway/shared/errors';
import { SilenceTimer } from '@inference-gateway/shared/protocol/silence';
import type { ServerResponse } from 'node:http';
import type { Answerer, Sink } from '../dispatch/work.js';
import { setAnswerHeaders } from './answer-headers.js';
import { EventSplitter } from './sse.js';

export interface StreamTiming {
  readonly earlyHeadersMs: number;
  readonly keepAliveMs: number;
  /** A caller that takes no byte for this long has stalled. */
  readonly stallMs: number;
}

/** Not `: ping`: one popular client takes that for the end of the stream. */
const KEEP_ALIVE = ': keep-alive\n\n';
const DONE = 'data: [DONE]\n\n';

export class StreamAnswer implements Sink {
  committed = false;
  readonly #response: ServerResponse;
  readonly #timing: StreamTiming;
  readonly #stalled: () => void;
  #splitter = new EventSplitter();
  #answerer: Answerer | null = null;
  #silence: SilenceTimer;
  #unconfirmedBytes = 0;
  #stall: NodeJS.Timeout | null = null;

  /** `stalled` is called once when the caller has stopped reading. */
  constructor(response: ServerResponse, timing: StreamTiming, stalled: () => void) {
    this.#response = response;
    this.#timing = timing;
    this.#stalled = stalled;
    this.#silence = new SilenceTimer(timing.earlyHeadersMs, () => this.#fillSilence());
    response.once('close', () => this.#stop());
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#splitter = new EventSplitter();
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): string | null {
    const cut = this.#splitter.push(bytes);
    if ('problem' in cut) return cut.problem;
    this.#unconfirmedBytes += bytes.length;
    if (cut.events.length > 0) this.#send(cut.events);
    if (this.#response.writableNeedDrain) this.#awaitDrain(consumed);
    else this.#confirm(consumed);
    return null;
  }

  end(): string | null {
    if (this.#splitter.isHalfway) return 'it ended in the middle of an event';
    this.#send(DONE);
    this.#finish();
    return null;
  }

  /**
   * Ends the stream with an error event, where headers are out already; false where they are not.
   */
  fail(error: ApiError): boolean {
    if (!this.#response.headersSent) {
      this.#stop();
      return false;
    }
    this.#response.write(`data: ${JSON.stringify(error.body)}\n\n${DONE}`);
    this.#finish();
    return true;
  }

  #send(events: Buffer | string): void {
    this.#sendHeaders();
    this.committed = true;
    this.#silence.touch();
    this.#response.write(events);
  }

  #sendHeaders(): void {
    const response = this.#response;
    if (response.headersSent) return;
    if (this.#answerer !== null) setAnswerHeaders(response, this.#answerer);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    this.#watchSilence();
  }

  #fillSilence(): void {
    if (!this.#response.headersSent) return this.#sendHeadersEarly();
    this.#response.write(KEEP_ALIVE);
    return this.#watchSilence();
  }

  #sendHeadersEarly(): void {
    this.#sendHeaders();
    this.#response.write(KEEP_ALIVE);
  }

  #watchSilence(): void {
    this.#silence.stop();
    this.#silence = new SilenceTimer(this.#timing.keepAliveMs, () => this.#fillSilence());
  }

  #awaitDrain(consumed: (bytes: number) => void): void {
    if (this.#stall !== null) return;
    this.#stall = setTimeout(() => {
      this.#stalled();
      this.#response.destroy();
    }, this.#timing.stallMs);
    this.#response.once('drain', () => {
      this.#clearStall();
      this.#confirm(consumed);
    });
  }

  #confirm(consumed: (bytes: number) => void): void {
    const bytes = this.#unconfirmedBytes;
    this.#unconfirmedBytes = 0;
    consumed(bytes);
  }

  #finish(): void {
    this.#stop();
    this.#response.end();
  }

  #stop(): void {
    this.#silence.stop();
    this.#clearStall();
  }

  #clearStall(): void {
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#stall = null;
  }
}
