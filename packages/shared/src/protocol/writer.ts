/**
 * The sending side of a link. Control messages come first; then the streams take turns, one frame
 * each, within their credit and while the socket has few unsent bytes. Everything from one turn of
 * the event loop is sent in one socket write (measured: +17 to 19 % under load, no delay).
 */
import { SendWindow } from './credit.js';
import { encodeData } from './frames.js';
import { LINK } from './version.js';

/** What the writer needs of a socket. */
export interface Wire {
  send(frame: string | Uint8Array, sent: () => void): void;
  /** Bytes that are not yet accepted by the system. */
  bufferedBytes(): number;
  cork(): void;
  uncork(): void;
}

export class LinkWriter {
  readonly #wire: Wire;
  readonly #highWaterBytes: number;
  readonly #ready: SendStream[] = [];
  #corked = false;

  constructor(wire: Wire, highWaterBytes: number) {
    this.#wire = wire;
    this.#highWaterBytes = highWaterBytes;
  }

  /** Sends at once, before queued data of the streams. */
  control(frame: string | Uint8Array): void {
    this.#send(frame);
  }

  /** A new stream with its first window. */
  open(id: number, windowBytes: number): SendStream {
    return new SendStream(id, new SendWindow(windowBytes), (stream) => this.#wake(stream));
  }

  #wake(stream: SendStream): void {
    if (!stream.queued) {
      stream.queued = true;
      this.#ready.push(stream);
    }
    this.#pump();
  }

  /** One frame of each ready stream in turn, until the socket is full or no stream can send. */
  readonly #pump = (): void => {
    while (this.#wire.bufferedBytes() < this.#highWaterBytes) {
      const stream = this.#ready.shift();
      if (stream === undefined) return;
      const frame = stream.take();
      if (frame !== null) this.#send(frame);
      stream.queued = stream.canSend();
      if (stream.queued) this.#ready.push(stream);
    }
  };

  readonly #flush = (): void => {
    this.#corked = false;
    this.#wire.uncork();
  };

  #send(frame: string | Uint8Array): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#wire.cork();
      setImmediate(this.#flush);
    }
    this.#wire.send(frame, this.#pump);
  }
}

/** The sending side of a stream: bytes and messages are sent in order. */
export class SendStream {
  readonly id: number;
  /** Whether the stream is in the writer's list of turns; set only by the writer. */
  queued = false;
  /** Whether anything of its queue was sent. */
  hasBegun = false;
  readonly #window: SendWindow;
  readonly #wake: (stream: SendStream) => void;
  #items: (string | Uint8Array)[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #waitingEmpty: (() => void)[] = [];
  #queuedBytes = 0;

  constructor(id: number, window: SendWindow, wake: (stream: SendStream) => void) {
    this.id = id;
    this.#window = window;
    this.#wake = wake;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Queues raw bytes; they cost credit. */
  data(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#queuedBytes += bytes.length;
    this.#put(bytes);
  }

  /** Queues a message that must not overtake the bytes before it; it costs no credit. */
  text(message: string): void {
    this.#put(message);
  }

  /** Whether so many bytes may be sent now, before all other data of the stream. */
  hasCredit(bytes: number): boolean {
    return this.#items.length === 0 && bytes <= this.#window.creditBytes;
  }

  /** Bytes that were sent as part of a message cost credit, too. */
  spend(bytes: number): void {
    this.#window.spend(bytes);
  }

  grant(bytes: number): void {
    this.#window.grant(bytes);
    if (this.canSend()) this.#wake(this);
  }

  /** Resolves once the queue is below one window: backpressure for the producer. */
  drained(): Promise<void> {
    if (this.#queuedBytes < LINK.windowBytes) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the queue is empty, sent or discarded. */
  emptied(): Promise<void> {
    if (this.#items.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingEmpty.push(resolve));
  }

  /** Drops unsent data. */
  discard(): void {
    this.#items = [];
    this.#queuedBytes = 0;
    this.#release();
  }

  canSend(): boolean {
    const first = this.#items[0];
    return first !== undefined && (typeof first === 'string' || this.#window.creditBytes > 0);
  }

  /** The next frame, or null if there is none or no credit for it. */
  take(): string | Uint8Array | null {
    const first = this.#items[0];
    if (first === undefined) return null;
    if (typeof first === 'string') {
      this.hasBegun = true;
      this.#items.shift();
      this.#release();
      return first;
    }
    const size = Math.min(first.length, LINK.maxDataBytes, this.#window.creditBytes);
    if (size <= 0) return null;
    this.hasBegun = true;
    if (size === first.length) this.#items.shift();
    else this.#items[0] = first.subarray(size);
    this.#window.spend(size);
    this.#queuedBytes -= size;
    this.#release();
    return encodeData(this.id, first.subarray(0, size));
  }

  #put(item: string | Uint8Array): void {
    this.#items.push(item);
    this.#wake(this);
  }

  #release(): void {
    if (this.#queuedBytes < LINK.windowBytes) call(this.#waiting);
    if (this.#items.length === 0) call(this.#waitingEmpty);
  }
}

function call(waiting: (() => void)[]): void {
  if (waiting.length === 0) return;
  for (const resolve of waiting.splice(0)) resolve();
}
