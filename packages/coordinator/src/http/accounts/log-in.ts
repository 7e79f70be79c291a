/** Delays against guessing, for every way to log in, and the check of a password. */
import { ApiError } from '@inference-gateway/shared/errors';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { addressGroup, addressNetwork } from '../../core/access/address-group.js';
import type { Guesser, LogInLimit, TryEnd } from '../../core/access/log-in-throttle.js';
import type { Store } from '../../store/port.js';
import type { LoggedIn, Proven } from './browser-sessions.js';

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
  attempt(credentials: Credentials): Promise<Proven | null> {
    const guessers = [...ofAccount(credentials), ...ofAddress(credentials.address)];
    return this.#slowed(guessers, () => this.#check(credentials));
  }

  /** Another way, whose account is not known before: wrong attempts count for the address. */
  attemptFrom<Result>(
    address: string,
    check: () => Promise<Result | null>,
  ): Promise<Result | null> {
    return this.#slowed(ofAddress(address), check);
  }

  async #slowed<Result>(
    guessers: readonly Guesser[],
    check: () => Promise<Result | null>,
  ): Promise<Result | null> {
    const waitMs = await this.#limit.begin(guessers);
    if (waitMs > 0) throw tooSoon(waitMs, guessers);
    // One that could not be checked is not counted.
    let end: TryEnd = 'unchecked';
    try {
      const result = await check();
      end = result === null ? 'wrong' : 'right';
      return result;
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
function ofAccount({ email, address }: Credentials): readonly Guesser[] {
  const account = email.toLowerCase();
  return [
    { kind: 'pair', key: hashSecret(`${addressGroup(address)} ${account}`) },
    { kind: 'account', key: hashSecret(account) },
  ];
}

function ofAddress(address: string): readonly Guesser[] {
  return [
    { kind: 'address', key: hashSecret(addressGroup(address)) },
    { kind: 'network', key: hashSecret(addressNetwork(address)) },
  ];
}

function tooSoon(waitMs: number, guessers: readonly Guesser[]): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  const what = guessers.some(({ kind }) => kind === 'account') ? 'wrong passwords' : 'failed tries';
  const message = `Too many ${what} in a row. Try again in ${seconds} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS: seconds });
}

/** Within this time after a log-in, ways to log in are changed without the password. */
export const RECENT_LOG_IN_MS = 10 * 60_000;

/** That it is still the member who sits there: an open browser must not become a way in. */
export interface Proof {
  /** Null if none was given. */
  readonly password: string | null;
  readonly loggedIn: LoggedIn;
  readonly address: string;
  /** Unix ms. */
  readonly now: number;
}

/** Throws `proof_required` or `wrong_password`. */
export async function requireProof(logIn: LogIn, proof: Proof): Promise<void> {
  const { password, loggedIn, address, now } = proof;
  const { session, member } = loggedIn;
  if (now - session.createdAt < RECENT_LOG_IN_MS) return;
  if (password === null) throw proofRequired(member.hasPassword);
  const proven = await logIn.attempt({ email: member.email, password, address });
  if (proven === null) throw wrongPassword('password');
}

function proofRequired(hasPassword: boolean): ApiError {
  const remedy = hasPassword ? 'Type your password.' : 'Log out, and log in again.';
  return new ApiError('proof_required', `Your last log-in is too long ago for this. ${remedy}`);
}

export function wrongPassword(param: string): ApiError {
  const message = 'This is not your current password. Check it; an admin can set another one.';
  return new ApiError('wrong_password', message, { param });
}
