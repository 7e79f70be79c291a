/**
 * Window arithmetic of one stream and direction. The receiver grants bytes; it grants new ones
 * when half of the window has been *consumed* (drained to the caller or the local server), not
 * merely received, so that a slow reader holds up its own stream and no other.
 */

/** The largest credit of a sender, even if the sum of WINDOW frames is larger. */
const MAX_CREDIT_BYTES = 0x7fffffff;

/** The receiver's side: the credit of the other end. */
export class ReceiveWindow {
  readonly #windowBytes: number;
  #allowedBytes: number;
  #consumedBytes = 0;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#allowedBytes = windowBytes;
  }

  /** Counts received bytes; false when the sender had no credit for them. */
  receive(bytes: number): boolean {
    this.#allowedBytes -= bytes;
    return this.#allowedBytes >= 0;
  }

  /** Counts consumed bytes and returns the credit to grant now: 0, or at least half a window. */
  consume(bytes: number): number {
    this.#consumedBytes += bytes;
    if (this.#consumedBytes * 2 < this.#windowBytes) return 0;
    const credit = this.#consumedBytes;
    this.#consumedBytes = 0;
    this.#allowedBytes += credit;
    return credit;
  }
}

/** The sender's side: its own credit. */
export class SendWindow {
  #creditBytes: number;

  constructor(windowBytes: number) {
    this.#creditBytes = windowBytes;
  }

  get creditBytes(): number {
    return this.#creditBytes;
  }

  spend(bytes: number): void {
    this.#creditBytes -= bytes;
  }

  grant(bytes: number): void {
    this.#creditBytes = Math.min(this.#creditBytes + bytes, MAX_CREDIT_BYTES);
  }
}
