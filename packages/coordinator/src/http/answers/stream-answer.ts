/**
 * A streamed answer. Headers are sent with the first event or after a period of silence; from then
 * on silence is filled with comments, and the end is always that of the stream's form.
 */
import type { ApiError } from '@inference-gateway/shared/errors';
import { SilenceTimer } from '@inference-gateway/shared/protocol/liveness';
import type { ServerResponse } from 'node:http';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import type { Answerer } from '../../run/work.js';
import { setAnswerHeaders } from './answer.js';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import type { HttpAnswer } from './answer.js';
import { PacedResponse } from './paced-response.js';
import type { PaceTiming } from './paced-response.js';

export interface StreamTiming extends PaceTiming {
  readonly earlyHeadersMs: number;
  readonly keepAliveMs: number;
}

/** Not `: ping`, which one popular client treats as the end of the stream. */
const KEEP_ALIVE = ': keep-alive\n\n';

/** How a provider's events are written for the caller. */
export interface StreamForm {
  /** A provider begins, perhaps in place of another of which nothing was passed on. */
  begin(): void;
  /** What follows from these complete events, perhaps nothing yet, or their error. */
  pass(events: Buffer): { readonly text: Buffer | string } | { readonly problem: string };
  /** The end of a complete answer. */
  end(): string;
  /** The end of a broken one. */
  fail(error: ApiError): string;
}

const DONE = 'data: [DONE]\n\n';

/** The events as they are: an error is one more, and `data: [DONE]` the last. */
const UNCHANGED: StreamForm = {
  begin: () => {},
  pass: (events) => ({ text: events }),
  end: () => DONE,
  fail: (error) => `data: ${JSON.stringify(error.body)}\n\n${DONE}`,
};

export interface StreamParts {
  readonly timing: StreamTiming;
  /** Absent: the provider's events as they are. */
  readonly form?: StreamForm;
  /** Called once when the caller has stopped reading. */
  readonly stalled: () => void;
}

export class StreamAnswer implements HttpAnswer {
  readonly measures = NOTHING_MEASURED;
  committed = false;
  readonly #response: ServerResponse;
  readonly #timing: StreamTiming;
  readonly #form: StreamForm;
  readonly #paced: PacedResponse;
  #splitter = new EventSplitter();
  #answerer: Answerer | null = null;
  #silence: SilenceTimer;

  constructor(response: ServerResponse, { timing, form = UNCHANGED, stalled }: StreamParts) {
    this.#response = response;
    this.#timing = timing;
    this.#form = form;
    this.#paced = new PacedResponse(response, timing, stalled);
    this.#silence = new SilenceTimer(timing.earlyHeadersMs, () => this.#fillSilence());
    response.once('close', () => this.#silence.stop());
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#splitter = new EventSplitter();
    this.#form.begin();
  }

  part(): string {
    return 'a file where events were due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): string | null {
    const cut = this.#splitter.push(bytes);
    if ('problem' in cut) return cut.problem;
    if (cut.events.length > 0) {
      const passed = this.#form.pass(cut.events);
      if ('problem' in passed) return passed.problem;
      if (passed.text.length > 0) this.#send(passed.text);
    }
    this.#paced.whenTaken(() => consumed(bytes.length));
    return null;
  }

  end(): string | null {
    if (this.#splitter.isHalfway) return 'it ended in the middle of an event';
    this.#send(this.#form.end());
    this.#finish();
    return null;
  }

  /** Ends the stream with its error, if headers were already sent. */
  fail(error: ApiError | null): boolean {
    if (!this.#response.headersSent || error === null) {
      this.#silence.stop();
      return error === null;
    }
    this.#response.write(this.#form.fail(error));
    this.#finish();
    return true;
  }

  #send(events: Buffer | string): void {
    this.#sendHeaders();
    this.committed = true;
    this.#silence.touch();
    this.#paced.write(events);
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

  #finish(): void {
    this.#silence.stop();
    this.#response.end();
  }
}

const MAX_EVENT_BYTES = 1024 * 1024;

const NEWLINE = 10;

const CARRIAGE_RETURN = 13;

const EVENT_START = Buffer.from('data: {');

/**
 * Splits an agent's bytes into complete server-sent events and checks each: one `data: {…}` line
 * and a blank line. A partial event is held back, so that an error event is never inserted into a
 * line.
 */
export class EventSplitter {
  readonly #held = new GatheredBytes();

  /** The events that these bytes complete (perhaps none), or an error. */
  push(bytes: Uint8Array): { readonly events: Buffer } | { readonly problem: string } {
    // The held bytes end no event; only the last byte may be the first half of a blank line.
    const searchFrom = Math.max(0, this.#held.length - 1);
    this.#held.append(bytes);
    const all = this.#held.bytes;
    const end = endOfLastEvent(all, searchFrom);
    const events = all.subarray(0, end);
    const problem = checkEvents(events);
    if (problem !== null) return { problem };
    if (all.length - end > MAX_EVENT_BYTES) return { problem: 'an event is longer than 1 MiB' };
    if (end > 0) this.#keep(all.subarray(end));
    return { events };
  }

  /** Whether the bytes so far end in the middle of an event. */
  get isHalfway(): boolean {
    return this.#held.length > 0;
  }

  #keep(rest: Buffer): void {
    this.#held.clear();
    if (rest.length > 0) this.#held.append(rest);
  }
}

function endOfLastEvent(bytes: Buffer, searchFrom: number): number {
  const last = bytes.subarray(searchFrom).lastIndexOf('\n\n');
  return last === -1 ? 0 : searchFrom + last + 2;
}

function checkEvents(events: Buffer): string | null {
  if (events.includes(CARRIAGE_RETURN)) return 'a carriage return in an event';
  for (let start = 0; start < events.length;) {
    const startEnd = Math.min(start + EVENT_START.length, events.length);
    if (EVENT_START.compare(events, start, startEnd) !== 0) {
      return 'an event that is no data line with a JSON object';
    }
    const end = events.indexOf(NEWLINE, start);
    if (events[end + 1] !== NEWLINE) return 'an event of more than one line';
    start = end + 2;
  }
  return null;
}
