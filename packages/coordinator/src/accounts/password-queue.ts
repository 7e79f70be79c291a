/** Limits how many passwords are hashed and checked at once for network requests. */
import { ApiError } from '@inference-gateway/shared/errors';
import { hashPassword, isPassword } from './password.js';

/**
 * Each hash takes 32 MiB and one of libuv's four threads, which also read and write files. With
 * more at once, log-ins would stop downloads and uploads.
 */
export const MAX_AT_ONCE = 2;
/** The last one waits about 3 s. Further requests get 503. */
export const MAX_WAITING = 32;

export class PasswordQueue {
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  hash(password: string): Promise<string> {
    return this.#inTurn(() => hashPassword(password));
  }

  /** See `isPassword`: null takes as long as a stored hash. */
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

  /** A finished turn passes its place on directly, so no new request can take it in between. */
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
