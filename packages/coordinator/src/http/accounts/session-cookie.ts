/** Where a browser keeps the secret of its session: no script of any page can read it. */
import { isSecret } from '@inference-gateway/shared/ids';
import type { Context } from '../edge/context.js';

/** The openapi document tells the first. */
const NAME = 'gateway_session';
/** Browsers take a name like this over https alone, and only for exactly this host. */
const SECURE_NAME = `__Host-${NAME}`;

export class SessionCookie {
  readonly #publicUrl: () => string;

  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl;
  }

  /** Of the header `Cookie`. Null where there is none, or none of ours. */
  read(header: string): string | null {
    const name = this.#isSecure ? SECURE_NAME : NAME;
    const start = `${name}=`;
    const pair = header.split(';').find((one) => one.trim().startsWith(start));
    const value = pair?.trim().slice(start.length) ?? '';
    return isSecret('gws', value) ? value : null;
  }

  write(ctx: Context, secret: string, maxAgeMs: number): void {
    const [name, secure] = this.#isSecure ? [SECURE_NAME, '; Secure'] : [NAME, ''];
    const rules = `Path=/; Max-Age=${Math.ceil(maxAgeMs / 1_000)}; HttpOnly; SameSite=Lax${secure}`;
    ctx.append('Set-Cookie', `${name}=${secret}; ${rules}`);
  }

  clear(ctx: Context): void {
    this.write(ctx, '', 0);
  }

  /** As browsers see it: behind a proxy, the connection to us is not encrypted. */
  get #isSecure(): boolean {
    return this.#publicUrl().startsWith('https:');
  }
}
