/** A JSON answer that is held until it is whole, whoever takes it then. */
import type { ApiError } from '@inference-gateway/shared/errors';
import { GatheredBytes } from '@inference-gateway/shared/gathered-bytes';
import type { Share } from './budget.js';

export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export class HeldDocument {
  readonly #body = new GatheredBytes();
  readonly #share: Share;

  /** `share` is what it may take of the memory for answers. */
  constructor(share: Share) {
    this.#share = share;
  }

  get bytes(): Buffer {
    return this.#body.bytes;
  }

  /** What is wrong with the answer, or with our own memory; null where there is nothing. */
  append(bytes: Uint8Array): string | ApiError | null {
    this.#body.append(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    return this.#share.tryAdd(bytes.length);
  }

  /** Gives back what it takes up. */
  clear(): void {
    this.#body.clear();
    this.#share.release();
  }
}

export function isJsonObject(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
