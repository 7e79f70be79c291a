/**
 * Reads HTTP/1.1 answers off a connection, one after the other. It supports only the answers of the
 * bench, so that the generator takes little CPU time from the measured processes on the same
 * machine.
 */

export interface AnswerHandler {
  /** Bytes of the body, without the framing of chunks. */
  body(bytes: Buffer): void;
  end(status: number): void;
}

const HEAD_END = '\r\n\r\n';

export class AnswerReader {
  readonly #handler: AnswerHandler;
  #pending: Buffer = Buffer.alloc(0);
  #status = 0;
  #chunked = false;
  /**
   * Bytes left of the body, or of the current chunk; -1 while a head or a chunk's size is awaited.
   */
  #left = -1;
  #inBody = false;

  constructor(handler: AnswerHandler) {
    this.#handler = handler;
  }

  push(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    while (this.#step());
  }

  /** Takes one piece off the pending bytes; false if more bytes are needed. */
  #step(): boolean {
    if (!this.#inBody) return this.#readHead();
    if (this.#left < 0) return this.#readChunkSize();
    return this.#readBody();
  }

  #readHead(): boolean {
    const end = this.#pending.indexOf(HEAD_END);
    if (end === -1) return false;
    const head = this.#pending.toString('latin1', 0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    this.#chunked = head.includes('\r\ntransfer-encoding: chunked');
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
    if (!this.#chunked && length === undefined) throw new Error(`unframed answer: ${head}`);
    this.#left = this.#chunked ? -1 : Number(length);
    this.#inBody = true;
    this.#take(end + HEAD_END.length);
    return true;
  }

  #readChunkSize(): boolean {
    const end = this.#pending.indexOf('\r\n');
    if (end === -1) return false;
    const size = Number.parseInt(this.#pending.toString('latin1', 0, end), 16);
    // The last chunk is empty and ends with one more line break; trailers do not occur here.
    if (size === 0 && this.#pending.length < end + 4) return false;
    this.#take(size === 0 ? end + 4 : end + 2);
    if (size === 0) this.#finish();
    else this.#left = size;
    return true;
  }

  #readBody(): boolean {
    if (this.#left > 0) {
      if (this.#pending.length === 0) return false;
      const bytes = this.#pending.subarray(0, this.#left);
      this.#left -= bytes.length;
      this.#take(bytes.length);
      this.#handler.body(bytes);
    }
    if (this.#left > 0) return false;
    if (!this.#chunked) return this.#finish();
    if (this.#pending.length < 2) return false;
    this.#take(2);
    this.#left = -1;
    return true;
  }

  #finish(): boolean {
    this.#inBody = false;
    this.#left = -1;
    this.#handler.end(this.#status);
    return true;
  }

  #take(bytes: number): void {
    this.#pending = this.#pending.subarray(bytes);
  }
}
