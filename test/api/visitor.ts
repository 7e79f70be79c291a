/**
 * A member at the dashboard: sends requests as the gateway's pages do, with the browser's cookie.
 */
import { givePassword } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { cookieOf, loggingIn, PASSWORD, SAME_ORIGIN } from './account-calls.js';
import type { Caller } from './requests.js';

export interface Visitor extends Caller {
  readonly cookie: string;
}

/** Gives the member a password and logs a browser in. */
export async function visit(gateway: TestGateway, email: string): Promise<Visitor> {
  givePassword(gateway, email);
  return visitAgain(gateway, email);
}

/** Logs in another browser of a member who already has a password. */
export async function visitAgain(
  gateway: Pick<TestGateway, 'address'>,
  email: string,
  password = PASSWORD,
): Promise<Visitor> {
  const { path, ...init } = loggingIn(email, password);
  const response = await fetch(`${gateway.address}${path}`, init);
  if (response.status !== 204) throw new Error(`${email} cannot log in: ${await response.text()}`);
  return visitorWith(gateway, cookieOf(response));
}

/** A visitor with this cookie; `/v1/` paths become the console's paths, as on its pages. */
export function visitorWith(gateway: Pick<TestGateway, 'address'>, cookie: string): Visitor {
  const fetchAs: Caller['fetch'] = (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('cookie', cookie);
    for (const [name, value] of Object.entries(SAME_ORIGIN)) {
      if (!headers.has(name)) headers.set(name, value);
    }
    return fetch(`${gateway.address}${consolePath(path)}`, { ...init, headers });
  };
  return { cookie, fetch: fetchAs };
}

export function consolePath(path: string): string {
  return path.startsWith('/v1/') ? `/api/console${path}` : path;
}
