import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { cookieOf, PASSWORD, PASSWORD_PATH, SESSION_PATH } from './account-calls.js';
import { failureOf, post } from './requests.js';
import { visit, visitAgain, visitorWith } from './visitor.js';
import type { Visitor } from './visitor.js';

const OTHER = 'another long password';

let gateway: TestGateway;
let members = 0;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1 });
});

afterAll(() => gateway.stop());

/** A new member who is logged in. */
async function arrive(): Promise<{ readonly email: string; readonly visitor: Visitor }> {
  const email = `member-${(members += 1)}@example.org`;
  await gateway.admin('user.create', { email, name: null, admin: false, password: null });
  return { email, visitor: await visit(gateway, email) };
}

/** Each member sends from a different address. */
function change(visitor: Visitor, body: object): Promise<Response> {
  const headers = { 'x-forwarded-for': `192.0.2.${members}` };
  return post(visitor, body, { path: PASSWORD_PATH, headers });
}

describe('POST /api/console/v1/password', () => {
  it('ends every session with the old one, and gives this browser a new one', async () => {
    const { email, visitor } = await arrive();
    const elsewhere = await visitAgain(gateway, email);
    const changed = await change(visitor, { current: PASSWORD, password: OTHER });
    expect(changed.status).toBe(204);
    const own = visitorWith(gateway, cookieOf(changed));
    expect(own.cookie).not.toBe(visitor.cookie);
    expect((await own.fetch('/v1/models')).status).toBe(200);
    for (const old of [visitor, elsewhere]) {
      expect((await old.fetch('/v1/models')).status).toBe(401);
    }
    await expect(visitAgain(gateway, email)).rejects.toThrow('wrong_password');
    expect((await visitAgain(gateway, email, OTHER)).cookie).not.toBe('');
  });

  it('is written down as done by the member', async () => {
    const { email, visitor } = await arrive();
    await change(visitor, { current: PASSWORD, password: OTHER });
    const every = { since_s: null, actor: email, subject: null, limit: 10 };
    const audit = await gateway.admin('audit.list', { ...every, action: 'user.password' });
    expect(audit).toHaveLength(1);
  });

  it.each([
    [
      'a wrong current one',
      { current: 'wrong', password: OTHER },
      { status: 401, code: 'wrong_password', param: 'current' },
    ],
    [
      'none',
      { password: OTHER },
      { status: 400, code: 'missing_required_parameter', param: 'current' },
    ],
    [
      'a short one',
      { current: PASSWORD, password: 'short' },
      { status: 400, code: 'invalid_value', param: 'password' },
    ],
  ])('refuses %s, and nothing changes', async (_, body, failure) => {
    const { visitor } = await arrive();
    const refused = await change(visitor, body);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await failureOf(refused)).toMatchObject(failure);
    // A changed password would have ended the session.
    expect((await visitor.fetch(SESSION_PATH)).status).toBe(200);
  });

  it('lets nobody guess faster than logging in would', async () => {
    const { visitor } = await arrive();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) {
      statuses.push((await change(visitor, { current: `wrong ${n}`, password: OTHER })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('of two changes at once one counts', async () => {
    const { visitor } = await arrive();
    const changes = [OTHER, 'yet another password'].map((password) => {
      return change(visitor, { current: PASSWORD, password });
    });
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 401]);
  });
});
