/** A JSON answer that is held until it is whole, whoever takes it then. */
import type { ApiError } from '@inference-gateway/shared/errors';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import { Budget } from './budget.js';
import type { Share } from './budget.js';
import { JsonGrammar } from './json-grammar.js';

export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * The one budget of memory for JSON bodies and answers that are held at once, of calls and of jobs.
 * A member may hold half of it, and always the largest body together with the largest answer to it.
 */
export function bodyBudget(limits: {
  readonly maxJsonBytes: number;
  readonly maxBodyMemoryBytes: number;
}): Budget {
  const { maxJsonBytes, maxBodyMemoryBytes: totalBytes } = limits;
  const memberBytes = Math.max(totalBytes / 2, maxJsonBytes + MAX_ANSWER_BYTES);
  return new Budget({ totalBytes, memberBytes });
}

export class HeldDocument {
  readonly #body = new GatheredBytes();
  #grammar = new JsonGrammar();
  readonly #share: Share;

  /** `share` is what it may take of the memory for answers. */
  constructor(share: Share) {
    this.#share = share;
  }

  get bytes(): Buffer {
    return this.#body.bytes;
  }

  /** What keeps it from being one JSON object, as far as it has come; null where it is one. */
  get fault(): string | null {
    return this.#grammar.fault;
  }

  /** What is wrong with the answer, or with our own memory; null where there is nothing. */
  append(bytes: Uint8Array): string | ApiError | null {
    this.#body.append(bytes);
    this.#grammar.add(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    return this.#share.tryAdd(bytes.length);
  }

  /** Gives back what it takes up. */
  clear(): void {
    this.#body.clear();
    this.#grammar = new JsonGrammar();
    this.#share.release();
  }
}
