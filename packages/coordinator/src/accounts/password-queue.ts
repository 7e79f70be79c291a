/** Hashes and checks passwords for whoever asks over the network, a few at a time. */
import { ApiError } from '@inference-gateway/shared/errors';
import { hashPassword, isPassword } from './password.js';

/**
 * Each takes 32 MiB and one of the four threads that also read and write every file: with more at
 * once, log-ins would stop downloads and uploads.
 */
export const MAX_AT_ONCE = 2;
/** Some 3 s of waiting for the last one; beyond it the answer is 503. */
export const MAX_WAITING = 32;

export class PasswordQueue {
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password));
  }

  /** See `isPassword`: null takes as long as a hash. */
  check(password: string, stored: string | null): Promise<boolean> {
    return this.#inTurn(() => isPassword(password, stored));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy < MAX_AT_ONCE) this.#busy += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#handOver();
    }
  }

  /** Whoever waits has the place of the one that ends: nobody can come in between. */
  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) throw tooMany();
    return new Promise<void>((done) => this.#waiting.push(done));
  }

  #handOver(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy -= 1;
    else next();
  }
}

function tooMany(): ApiError {
  const message = `More than ${MAX_WAITING} people are logging in at once. Try again in a while.`;
  return new ApiError('capacity_exhausted', message);
}
