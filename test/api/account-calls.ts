/** Requests to join and to log in, as a browser or curl sends them. */
import { MEMBER_PASSWORD } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';

export const SESSION_PATH = '/api/console/v1/session';
export const PASSWORD_PATH = '/api/console/v1/password';
const JOIN_PATH = '/api/join';
const SETUP_PATH = '/api/setup';
export const PASSWORD = MEMBER_PASSWORD;

export interface Sent extends Omit<RequestInit, 'headers'> {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The header that the gateway's own pages send with each request. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' } as const;

interface InviteOptions {
  readonly email?: string;
  readonly admin?: boolean;
  readonly network?: string | null;
  readonly expires_in_s?: number;
}

let invited = 0;

/** Invites a new address, and returns the invite's secret. */
export async function invite(gateway: TestGateway, options: InviteOptions = {}): Promise<string> {
  const email = `friend-${(invited += 1)}@example.org`;
  const rest = { admin: false, network: null, expires_in_s: 60, ...options };
  return (await gateway.admin('user.invite', { email, ...rest })).secret;
}

export function joining(body: object | string): Sent {
  return { path: JOIN_PATH, ...json(body) };
}

export function loggingIn(email: string, password = PASSWORD): Sent {
  const { headers, ...rest } = json({ email, password });
  return { path: SESSION_PATH, ...rest, headers: { ...headers, ...SAME_ORIGIN } };
}

function json(body: object | string) {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** The cookie of an answer as the browser sends it back; empty if the answer deletes it. */
export function cookieOf(response: Response): string {
  const [cookie = ''] = response.headers.getSetCookie();
  const [pair = ''] = cookie.split(';');
  return pair.endsWith('=') ? '' : pair;
}

/**
 * The first admin sets the gateway up, then calls member and admin operations, reads and changes;
 * returns the statuses.
 */
export async function setUpAndLookAround(
  token: string,
  call: (sent: Sent) => Promise<Response>,
): Promise<readonly number[]> {
  const open = await call({ path: SETUP_PATH });
  const admin = { token, name: 'Ada', email: 'ada@example.org', password: PASSWORD };
  const made = await call({ path: SETUP_PATH, ...json(admin) });
  const headers = { cookie: cookieOf(made), ...SAME_ORIGIN };
  const read = (name: string) => call({ path: `/api/console/v1/${name}`, headers });
  const change = (name: string, args: object) => {
    const { headers: type, ...rest } = json(args);
    return call({ path: `/api/console/v1/${name}`, ...rest, headers: { ...type, ...headers } });
  };
  const answers = [
    open,
    made,
    await read('my/key.list'),
    await change('my/network.create', { name: 'family' }),
    await read('admin/user.list'),
    await change('admin/queue.pause', {}),
  ];
  return answers.map(({ status }) => status);
}

/** A member joins, logs in, changes the password and logs out; returns the statuses. */
export async function joinAndLogOut(
  gateway: TestGateway,
  call: (sent: Sent) => Promise<Response>,
): Promise<readonly number[]> {
  const email = 'visitor@example.org';
  const token = await invite(gateway, { email });
  const body = { token, name: 'Visitor', password: PASSWORD, key_name: 'laptop' };
  const looked = await call({ path: '/api/join/invite', ...json({ token }) });
  const joined = await call(joining(body));
  const loggedIn = await call(loggingIn(email));
  const changing = json({ current: PASSWORD, password: `${PASSWORD} and more` });
  const old = { ...changing.headers, cookie: cookieOf(loggedIn), ...SAME_ORIGIN };
  const changed = await call({ path: PASSWORD_PATH, ...changing, headers: old });
  const headers = { cookie: cookieOf(changed), ...SAME_ORIGIN };
  const seen = await call({ path: SESSION_PATH, headers });
  const loggedOut = await call({ path: SESSION_PATH, method: 'DELETE', headers });
  const over = await call({ path: SESSION_PATH, headers });
  return [looked, joined, loggedIn, changed, seen, loggedOut, over].map(({ status }) => status);
}
