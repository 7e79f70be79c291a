/** Log-in by e-mail address and password, with delays against guessing. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { addressGroup, addressNetwork } from '../../core/access/address-group.js';
import { FIRM, GENTLE, LogInThrottle, SHARED } from '../../core/access/log-in-throttle.js';
import type { Store } from '../../store/port.js';
import type { Proven } from './browser-sessions.js';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The client's address. */
  readonly address: string;
}

/** A key that wrong attempts are counted against. */
interface Count {
  readonly throttle: LogInThrottle;
  readonly key: string;
}

export class LogIn {
  readonly #store: Pick<Store, 'findPassword'>;
  readonly #passwords: Pick<PasswordQueue, 'check'>;
  readonly #pairs = new LogInThrottle(FIRM);
  readonly #addresses = new LogInThrottle(FIRM);
  readonly #networks = new LogInThrottle(SHARED);
  readonly #accounts = new LogInThrottle(GENTLE);

  constructor(store: Pick<Store, 'findPassword'>, passwords: Pick<PasswordQueue, 'check'>) {
    this.#store = store;
    this.#passwords = passwords;
  }

  /**
   * Null if it was wrong; throws `rate_limit_exceeded` after too many wrong attempts. Neither these
   * nor the time taken reveal whether the address exists.
   */
  async attempt(credentials: Credentials): Promise<Proven | null> {
    const { ofAccount, ofOrigin } = this.#countsOf(credentials);
    const counts = [...ofAccount, ...ofOrigin];
    const now = performance.now();
    const waitMs = Math.max(...counts.map(({ throttle, key }) => throttle.waitMs(key, now)));
    if (waitMs > 0) throw tooSoon(waitMs);
    for (const { throttle, key } of counts) throttle.begin(key, now);
    let isWrong = false;
    try {
      const proven = await this.#check(credentials);
      isWrong = proven === null;
      if (!isWrong) for (const { throttle, key } of ofAccount) throttle.forget(key);
      return proven;
    } finally {
      settle(counts, isWrong);
    }
  }

  /**
   * Guessing one account from one address blocks that address, but not the account's owner at
   * another.
   */
  #countsOf({ email, address: from }: Credentials) {
    const account = email.toLowerCase();
    const address = addressGroup(from);
    const ofAccount: readonly Count[] = [
      { throttle: this.#pairs, key: `${address} ${account}` },
      { throttle: this.#accounts, key: account },
    ];
    const ofOrigin: readonly Count[] = [
      { throttle: this.#addresses, key: address },
      { throttle: this.#networks, key: addressNetwork(from) },
    ];
    return { ofAccount, ofOrigin };
  }

  async #check({ email, password }: Credentials): Promise<Proven | null> {
    const found = await this.#store.findPassword(email);
    const isRight = await this.#passwords.check(password, found?.passwordHash ?? null);
    if (!isRight || found === null) return null;
    return { memberId: found.member.id, passwordHash: found.passwordHash };
  }
}

/**
 * An attempt that was right, or could not be checked, is not counted. Earlier wrong ones still
 * count against the address, which others may share.
 */
function settle(counts: readonly Count[], isWrong: boolean): void {
  const now = performance.now();
  for (const { throttle, key } of counts) {
    if (isWrong) throttle.confirm(key, now);
    else throttle.takeBack(key);
  }
}

function tooSoon(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `Too many wrong passwords in a row. Try again in ${seconds} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS: seconds });
}
