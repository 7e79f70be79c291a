/** One keep-alive connection that carries a request at a time. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { AnswerReader } from './answer-reader.js';

/** An answer that no bench expects ends the run: its numbers would mean nothing. */
const MAX_ERROR_BYTES = 2_000;

export class Connection {
  readonly #socket: Socket;
  #body: ((bytes: Buffer) => void) | null = null;
  #done: (() => void) | null = null;
  #failed: (error: Error) => void = () => {};
  #error = '';

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const reader = new AnswerReader({
      body: (bytes) => this.#onBody(bytes),
      end: (status) => this.#onEnd(status),
    });
    this.#socket.on('data', (bytes: Buffer) => reader.push(bytes));
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.on('close', () => this.#failed(new Error('the connection was closed')));
  }

  /** Sends a request; resolves at the end of a 200 or 202, and rejects at anything else. */
  send(request: Buffer, onBody: ((bytes: Buffer) => void) | null = null): Promise<void> {
    this.#body = onBody;
    this.#error = '';
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = () => {};
    this.#socket.destroy();
  }

  #onBody(bytes: Buffer): void {
    if (this.#body !== null) this.#body(bytes);
    if (this.#error.length < MAX_ERROR_BYTES) this.#error += bytes.toString('latin1', 0, 500);
  }

  #onEnd(status: number): void {
    if (status === 200 || status === 202) this.#done?.();
    else this.#failed(new Error(`answer ${status}: ${this.#error}`));
  }
}
