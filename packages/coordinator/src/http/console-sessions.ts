/** The browsers that are logged in: a cookie on their side, a row on ours. */
import { ApiError } from '@inference-gateway/shared/errors';
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import type { Member, MemberSession, Store } from '../store/port.js';
import type { Context } from './context.js';
import type { SessionCookie } from './session-cookie.js';

/** Since its last use. */
export const SESSION_MS = 30 * 86_400_000;
const MAX_USER_AGENT = 256;

/** Who has shown that they know the member's password. */
export interface Proven {
  readonly memberId: string;
  readonly passwordHash: string;
}

export interface LoggedIn {
  readonly session: MemberSession;
  readonly member: Member;
}

export class ConsoleSessions {
  readonly #store: Pick<Store, 'by' | 'createSession' | 'useSession'>;
  readonly #cookie: SessionCookie;

  constructor(store: Pick<Store, 'by' | 'createSession' | 'useSession'>, cookie: SessionCookie) {
    this.#store = store;
    this.#cookie = cookie;
  }

  /**
   * Logs the browser in, whoever it was before. False where the password was changed while it was
   * looked at: whoever changes it is promised that nobody is in with the old one.
   */
  async start(ctx: Context, { memberId, passwordHash }: Proven): Promise<boolean> {
    await this.#endRow(ctx);
    const secret = newSecret('gws');
    const now = Date.now();
    const session = await this.#store.createSession(
      {
        hash: hashSecret(secret),
        memberId,
        passwordHash,
        address: ctx.state.ip,
        userAgent: ctx.get('user-agent').slice(0, MAX_USER_AGENT),
        expiresAt: now + SESSION_MS,
      },
      now,
    );
    if (session !== null) this.#cookie.write(ctx, secret, SESSION_MS);
    return session !== null;
  }

  /** Who acts, by the cookie, which lives on with each use. Throws `not_logged_in`. */
  async identify(ctx: Context): Promise<LoggedIn> {
    const found = await this.#find(ctx);
    if (found === null) {
      this.#cookie.clear(ctx);
      throw new ApiError('not_logged_in', 'You are not logged in, or no more. Log in again.');
    }
    this.#cookie.write(ctx, found.secret, SESSION_MS);
    return found.loggedIn;
  }

  /** Logs the browser out, if it is logged in. */
  async end(ctx: Context): Promise<void> {
    await this.#endRow(ctx);
    this.#cookie.clear(ctx);
  }

  async #endRow(ctx: Context): Promise<void> {
    const found = await this.#find(ctx);
    if (found === null) return;
    const { session, member } = found.loggedIn;
    await this.#store.by(`member:${member.id}`).endSessions({ id: session.id }, Date.now());
  }

  async #find(ctx: Context): Promise<{ secret: string; loggedIn: LoggedIn } | null> {
    const secret = this.#cookie.read(ctx);
    if (secret === null) return null;
    const loggedIn = await this.#store.useSession(hashSecret(secret), ctx.state.ip, Date.now());
    return loggedIn && { secret, loggedIn };
  }
}
