/** Whether somebody is who they say they are: address and password, tried slowly. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { PasswordDesk } from '../accounts/password-desk.js';
import { addressGroup } from '../core/address-group.js';
import { LogInThrottle } from '../core/log-in-throttle.js';
import type { Store } from '../store/port.js';
import type { Proven } from './console-sessions.js';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Where the attempt comes from. */
  readonly address: string;
}

export class LogIn {
  readonly #store: Pick<Store, 'findPassword'>;
  readonly #desk: PasswordDesk;
  readonly #accounts = new LogInThrottle();
  readonly #addresses = new LogInThrottle();

  constructor(store: Pick<Store, 'findPassword'>, desk: PasswordDesk) {
    this.#store = store;
    this.#desk = desk;
  }

  /**
   * Throws `wrong_password`, or `rate_limit_exceeded` after too many of those. Neither, nor the
   * time that it takes, tells whether somebody has the address.
   */
  async attempt(credentials: Credentials): Promise<Proven> {
    const account = credentials.email.toLowerCase();
    const address = addressGroup(credentials.address);
    const now = performance.now();
    const waitMs = Math.max(
      this.#accounts.waitMs(account, now),
      this.#addresses.waitMs(address, now),
    );
    if (waitMs > 0) throw tooSoon(waitMs);
    this.#accounts.begin(account, now);
    this.#addresses.begin(address, now);
    let isWrong = false;
    try {
      const proven = await this.#check(credentials);
      isWrong = proven === null;
      if (proven === null) throw wrongPassword();
      this.#accounts.forget(account);
      return proven;
    } finally {
      this.#settle({ account, address, isWrong });
    }
  }

  async #check({ email, password }: Credentials): Promise<Proven | null> {
    const found = await this.#store.findPassword(email);
    const isRight = await this.#desk.check(password, found?.passwordHash ?? null);
    if (!isRight || found === null) return null;
    return { memberId: found.member.id, passwordHash: found.passwordHash };
  }

  /**
   * What was right, or could not be looked at, is held against nobody; what was wrong before it
   * still is against the address, which others may share, and guess.
   */
  #settle({ account, address, isWrong }: Settlement): void {
    if (isWrong) {
      const now = performance.now();
      this.#accounts.confirm(account, now);
      this.#addresses.confirm(address, now);
    } else {
      this.#accounts.takeBack(account);
      this.#addresses.takeBack(address);
    }
  }
}

interface Settlement {
  readonly account: string;
  readonly address: string;
  readonly isWrong: boolean;
}

export function wrongPassword(): ApiError {
  const message =
    'This address and this password do not belong together. Check both; an admin can set another ' +
    'password.';
  return new ApiError('wrong_password', message);
}

function tooSoon(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `Too many wrong passwords in a row. Try again in ${seconds} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS: seconds });
}
