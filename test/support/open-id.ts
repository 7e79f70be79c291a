/** A real OpenID provider, of the package `oidc-provider`, and a browser that follows it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OIDC_CALLBACK } from '@inference-gateway/coordinator/accounts/oidc';
import { Provider } from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

export const CLIENT = { id: 'gateway', secret: 'a-secret-of-the-gateway' } as const;

/** Somebody who has an account there. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface TestProvider {
  readonly issuer: string;
  /** Who logs in next; null: they refuse. */
  become(account: Account | null): void;
  close(): Promise<void>;
}

/** `publicUrl`: of the gateway, whose callback it permits. */
export async function startProvider(publicUrl: string): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Account>();
  let current: Account | null = null;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${publicUrl}${OIDC_CALLBACK}`],
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a key of the provider'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub), sub }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: grantAll,
    ttl: { Session: 60, Grant: 60, Interaction: 60, AccessToken: 60, IdToken: 60 },
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    if (current !== null) accounts.set(current.sub, current);
    const result =
      current === null ? { error: 'access_denied' } : { login: { accountId: current.sub } };
    await provider.interactionFinished(ctx.req, ctx.res, result);
    ctx.respond = false;
    return undefined;
  });
  const handle = provider.callback();
  server.on('request', (request, response) => void handle(request, response));
  return {
    issuer,
    become: (account) => (current = account),
    close: () => closeServer(server),
  };
}

/** Nobody is asked for consent. */
async function grantAll({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider } = oidc;
  const grant = new provider.Grant({
    clientId: client?.clientId ?? '',
    accountId: session?.accountId ?? '',
  });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Keeps the cookies of one browser, by host and port. */
export class CookieJar {
  readonly #cookies = new Map<string, Map<string, string>>();

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const own = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, own);
    const headers = new Headers(init.headers);
    headers.set('cookie', [...own].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') own.delete(name);
      else own.set(name, value);
    }
    return response;
  }

  /** Follows redirects up to this path, and returns its URL without opening it. */
  async followTo(path: string, from: string): Promise<string> {
    let url = from;
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      if (new URL(url).pathname === path) return url;
      const response = await this.fetch(url);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${url}: ${response.status} ${await response.text()}`);
      url = new URL(location, url).href;
    }
    throw new Error(`${from} leads nowhere`);
  }
}

const MAX_STEPS = 10;
