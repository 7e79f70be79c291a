/** Sessions of the dashboard: a cookie in the browser, a row in the store. */
import { ApiError } from '@inference-gateway/shared/errors';
import { newSecret, isSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { Member, MemberSession, SessionOfBrowser, Store } from '../../store/port.js';
import type { Context } from '../edge/context.js';

/** Lifetime since its last use. */
export const SESSION_MS = 30 * 86_400_000;

const MAX_USER_AGENT = 256;

/** A member whose password was checked. */
export interface Proven {
  readonly memberId: string;
  readonly passwordHash: string;
}

export interface LoggedIn {
  readonly session: MemberSession;
  readonly member: Member;
}

/** What a request shows about its origin. */
export interface Visit {
  /** The header `Cookie`; empty if there is none. */
  readonly cookie: string;
  /** The client's address, according to trusted proxies. */
  readonly address: string;
}

interface SessionParts {
  readonly store: Pick<Store, 'by' | 'createSession' | 'useSession'>;
  readonly cookie: SessionCookie;
  /** Unix ms. */
  readonly now: () => number;
}

export class ConsoleSessions {
  readonly #store: SessionParts['store'];
  readonly #cookie: SessionCookie;
  readonly #now: () => number;

  constructor({ store, cookie, now }: SessionParts) {
    this.#store = store;
    this.#cookie = cookie;
    this.#now = now;
  }

  /**
   * Logs the browser in, replacing an earlier session. False if the password was changed while it
   * was checked: changing it guarantees that no session with the old one remains.
   */
  async start(ctx: Context, proven: Proven): Promise<boolean> {
    await this.#endRow(ctx);
    const created = await this.open(ctx, (session, now) =>
      this.#store.createSession({ ...session, ...proven }, now),
    );
    return created !== null;
  }

  /** The same for a log-in that an operation of the store decides. Null if it is refused. */
  async open<Opened>(
    ctx: Context,
    create: (session: SessionOfBrowser, now: number) => Promise<Opened | null>,
  ): Promise<Opened | null> {
    const former = await this.#find(visitOf(ctx), this.#now());
    const secret = newSecret('gws');
    const now = this.#now();
    const session = {
      hash: hashSecret(secret),
      address: ctx.state.ip,
      userAgent: ctx.get('user-agent').slice(0, MAX_USER_AGENT),
      expiresAt: now + SESSION_MS,
    };
    const opened = await create(session, now);
    if (opened === null) return null;
    if (former !== null) await this.#endRowOf(former);
    this.#cookie.write(ctx, secret, SESSION_MS);
    return opened;
  }

  /** Whether the request uses a session, valid or not. */
  isNamedBy(ctx: Context): boolean {
    return this.#cookie.read(ctx.get('cookie')) !== null;
  }

  /**
   * The member of the session. Its cookie is renewed when the store records a use, once a minute.
   * Throws `not_logged_in` without clearing the cookie: a page's request during a new log-in would
   * otherwise delete the new cookie.
   */
  async identify(ctx: Context): Promise<LoggedIn> {
    const now = this.#now();
    const found = await this.#find(visitOf(ctx), now);
    if (found === null) throw notLoggedIn();
    const { secret, loggedIn } = found;
    if (loggedIn.session.lastUsedAt === now) this.#cookie.write(ctx, secret, SESSION_MS);
    return loggedIn;
  }

  /** For a call that waits: throws `not_logged_in` once its session, or its member, has ended. */
  async confirm(ctx: Context): Promise<void> {
    if ((await this.find(visitOf(ctx))) === null) throw notLoggedIn();
  }

  /** The member of a WebSocket upgrade, which cannot set a cookie. Null if there is none. */
  async find(visit: Visit): Promise<LoggedIn | null> {
    return (await this.#find(visit, this.#now()))?.loggedIn ?? null;
  }

  /** Logs the browser out, if it is logged in. */
  async end(ctx: Context): Promise<void> {
    await this.#endRow(ctx);
    this.#cookie.clear(ctx);
  }

  async #endRow(ctx: Context): Promise<void> {
    const found = await this.#find(visitOf(ctx), this.#now());
    if (found !== null) await this.#endRowOf(found);
  }

  async #endRowOf({ loggedIn: { session, member } }: Found): Promise<void> {
    await this.#store.by(`member:${member.id}`).endSessions({ id: session.id }, this.#now());
  }

  async #find({ cookie, address }: Visit, now: number): Promise<Found | null> {
    const secret = this.#cookie.read(cookie);
    if (secret === null) return null;
    const loggedIn = await this.#store.useSession(hashSecret(secret), address, now);
    return loggedIn && { secret, loggedIn };
  }
}

function notLoggedIn(): ApiError {
  return new ApiError('not_logged_in', 'You are not logged in, or no longer. Log in again.');
}

interface Found {
  readonly secret: string;
  readonly loggedIn: LoggedIn;
}

function visitOf(ctx: Context): Visit {
  return { cookie: ctx.get('cookie'), address: ctx.state.ip };
}

/** The OpenAPI document names it. */
const NAME = 'gateway_session';

/** The cookie with the secret of the session. */
export class SessionCookie {
  readonly #cookie: HostCookie;

  constructor(publicUrl: () => string) {
    this.#cookie = new HostCookie(NAME, publicUrl);
  }

  /** From the header `Cookie`. Null if it has no session cookie. */
  read(header: string): string | null {
    const value = this.#cookie.read(header);
    return value !== null && isSecret('gws', value) ? value : null;
  }

  write(ctx: Context, secret: string, maxAgeMs: number): void {
    this.#cookie.write(ctx, secret, maxAgeMs);
  }

  clear(ctx: Context): void {
    this.write(ctx, '', 0);
  }
}

/** A cookie of this host alone, which scripts of pages cannot read. */
export class HostCookie {
  readonly #plainName: string;
  readonly #publicUrl: () => string;

  constructor(name: string, publicUrl: () => string) {
    this.#plainName = name;
    this.#publicUrl = publicUrl;
  }

  /** From the header `Cookie`. Null if it is not there, or empty. */
  read(header: string): string | null {
    const start = `${this.#name}=`;
    const pair = header.split(';').find((one) => one.trim().startsWith(start));
    return pair?.trim().slice(start.length) || null;
  }

  write(ctx: Context, value: string, maxAgeMs: number): void {
    const secure = this.#isSecure ? '; Secure' : '';
    const rules = `Path=/; Max-Age=${Math.ceil(maxAgeMs / 1_000)}; HttpOnly; SameSite=Lax${secure}`;
    ctx.append('Set-Cookie', `${this.#name}=${value}; ${rules}`);
  }

  /** Browsers accept a cookie with the prefix only over https, and only for exactly this host. */
  get #name(): string {
    return this.#isSecure ? `__Host-${this.#plainName}` : this.#plainName;
  }

  /** As seen by the browser: behind a proxy, the connection to us is not encrypted. */
  get #isSecure(): boolean {
    return this.#publicUrl().startsWith('https:');
  }
}
