import { ApiError } from '@inference-gateway/shared/errors';
import { addressGroup } from '../core/address-group.js';
import { RateLimit } from '../core/rate.js';

const WINDOW_MS = 60_000;
/** Some 600 bytes each. Where there are more, all begin anew. */
const MAX_ADDRESSES = 10_000;

/** What one address may try within a minute, of what takes no key. */
export class AddressLimit {
  readonly #tries: number;
  #limit: RateLimit;

  constructor(tries: number) {
    this.#tries = tries;
    this.#limit = new RateLimit(tries, WINDOW_MS);
  }

  /** Throws `rate_limit_exceeded` where it is one too many. */
  take(address: string): void {
    if (this.#limit.members >= MAX_ADDRESSES) this.#limit = new RateLimit(this.#tries, WINDOW_MS);
    const { allowed, retryAfterS } = this.#limit.take(addressGroup(address), performance.now());
    if (allowed) return;
    const message =
      `Your address has tried ${this.#tries} times within a minute, which is all it may. ` +
      `Try again in ${retryAfterS} seconds.`;
    throw new ApiError('rate_limit_exceeded', message, { retryAfterS });
  }
}
