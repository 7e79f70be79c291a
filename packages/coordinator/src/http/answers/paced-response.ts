/**
 * A response with backpressure: written as fast as its caller reads. A caller who reads nothing for
 * too long has stalled, and loses the connection.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface PaceTiming {
  /** A caller that reads no byte for this long has stalled. */
  readonly stallMs: number;
}

export class PacedResponse {
  readonly #response: ServerResponse;
  readonly #timing: PaceTiming;
  readonly #stalled: () => void;
  #waiting: (() => void)[] = [];
  #stall: NodeJS.Timeout | null = null;

  /** `stalled` is called once when the caller has stopped reading. */
  constructor(response: ServerResponse, timing: PaceTiming, stalled: () => void) {
    this.#response = response;
    this.#timing = timing;
    this.#stalled = stalled;
    response.once('close', () => this.#clearStall());
  }

  write(bytes: Uint8Array | string): void {
    this.#response.write(bytes);
  }

  /** Calls `taken` when there is room for more: at once, unless the caller reads slowly. */
  whenTaken(taken: () => void): void {
    if (!this.#response.writableNeedDrain) return taken();
    this.#waiting.push(taken);
    if (this.#stall === null) this.#awaitDrain();
    return undefined;
  }

  #awaitDrain(): void {
    this.#stall = setTimeout(() => {
      this.#stalled();
      this.#response.destroy();
    }, this.#timing.stallMs);
    this.#response.once('drain', () => {
      this.#clearStall();
      for (const taken of this.#waiting.splice(0)) taken();
    });
  }

  #clearStall(): void {
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#stall = null;
  }
}

// Sends an answer from disk to a caller who may read slowly or leave.

/** The number of listeners is fixed, but Node warns of a leak from eleven on. */
const MAX_LISTENERS = 20;

interface Stored {
  readonly bytes: number;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** A caller that reads no byte for this long has stalled. */
  readonly stallMs: number;
}

/** Resolves when the caller has everything, or has left. */
export async function sendStored(response: ServerResponse, stored: Stored): Promise<void> {
  const { bytes, pieces, stallMs } = stored;
  response.setHeader('Content-Length', bytes);
  // A pipeline adds listeners to those that wait for the end of a call.
  response.setMaxListeners(MAX_LISTENERS);
  response.setTimeout(stallMs, () => response.destroy());
  // The only error here is that the caller has left; the answer itself is complete and stored.
  await pipeline(Readable.from(pieces), response).catch(() => response.destroy());
}
