/** Log-in by e-mail address and password, with delays against guessing. */
import { ApiError } from '@inference-gateway/shared/errors';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { addressGroup, addressNetwork } from '../../core/access/address-group.js';
import type { Guesser, LogInLimit, TryEnd } from '../../core/access/log-in-throttle.js';
import type { Store } from '../../store/port.js';
import type { Proven } from './browser-sessions.js';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The client's address. */
  readonly address: string;
}

export class LogIn {
  readonly #store: Pick<Store, 'findPassword'>;
  readonly #passwords: Pick<PasswordQueue, 'check'>;
  readonly #limit: LogInLimit;

  constructor(
    store: Pick<Store, 'findPassword'>,
    passwords: Pick<PasswordQueue, 'check'>,
    limit: LogInLimit,
  ) {
    this.#store = store;
    this.#passwords = passwords;
    this.#limit = limit;
  }

  /**
   * Null if it was wrong; throws `rate_limit_exceeded` after too many wrong attempts. Neither these
   * nor the time taken reveal whether the address exists.
   */
  async attempt(credentials: Credentials): Promise<Proven | null> {
    const guessers = guessersOf(credentials);
    const waitMs = await this.#limit.begin(guessers);
    if (waitMs > 0) throw tooSoon(waitMs);
    // One that could not be checked is not counted.
    let end: TryEnd = 'unchecked';
    try {
      const proven = await this.#check(credentials);
      end = proven === null ? 'wrong' : 'right';
      return proven;
    } finally {
      await this.#limit.end(guessers, end);
    }
  }

  async #check({ email, password }: Credentials): Promise<Proven | null> {
    const found = await this.#store.findPassword(email);
    const isRight = await this.#passwords.check(password, found?.passwordHash ?? null);
    if (!isRight || found === null) return null;
    return { memberId: found.member.id, passwordHash: found.passwordHash };
  }
}

/**
 * Guessing one account from one address blocks that address, but not the account's owner at
 * another. Hashed: some people type their password where the address belongs.
 */
function guessersOf({ email, address: from }: Credentials): readonly Guesser[] {
  const account = email.toLowerCase();
  const address = addressGroup(from);
  return [
    { kind: 'pair', key: hashSecret(`${address} ${account}`) },
    { kind: 'account', key: hashSecret(account) },
    { kind: 'address', key: hashSecret(address) },
    { kind: 'network', key: hashSecret(addressNetwork(from)) },
  ];
}

function tooSoon(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  const message = `Too many wrong passwords in a row. Try again in ${seconds} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS: seconds });
}
