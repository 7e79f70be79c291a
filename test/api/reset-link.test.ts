/** A link, made by an admin, by which a member sets a new password. */
import { newSecret } from '@inference-gateway/shared/ids';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { cookieOf, PASSWORD, SAME_ORIGIN } from './account-calls.js';
import { readMy } from './console-calls.js';
import { failureOf } from './requests.js';
import { visitAgain, visitorWith } from './visitor.js';

const PATH = '/api/console/v1/password/reset';
const NEW = 'another long password';

function setPassword(gateway: TestGateway, token: string, password = NEW): Promise<Response> {
  return fetch(`${gateway.address}${PATH}`, {
    method: 'POST',
    headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ token, password }),
  });
}

test('sets a password once, ends the other sessions, and tells the member for a week', async () => {
  let aheadMs = 0;
  const clock = { ...SYSTEM_CLOCK, now: () => Date.now() + aheadMs };
  const gateway = await startGateway({ clock });
  const { email, id } = gateway.anna;
  const before = await visitAgain(gateway, email);
  const made = await gateway.admin('user.reset-link', { member: 'Anna' });
  expect(made).toMatchObject({ member: 'Anna', email, origin: gateway.address });

  const short = await setPassword(gateway, made.secret, 'short');
  expect(await failureOf(short)).toMatchObject({ status: 400, param: 'password' });
  const response = await setPassword(gateway, `${made.origin}/reset#${made.secret}`);
  await expectDocumented(PATH, 'POST', response);
  expect(response.status).toBe(204);
  const own = visitorWith(gateway, cookieOf(response));
  expect((await own.fetch('/api/console/v1/session')).status).toBe(200);
  expect((await before.fetch('/api/console/v1/session')).status).toBe(401);
  await expect(visitAgain(gateway, email, PASSWORD)).rejects.toThrow('wrong_password');
  await visitAgain(gateway, email, NEW);
  const again = await failureOf(await setPassword(gateway, made.secret));
  expect(again).toMatchObject({ status: 401, code: 'invalid_reset_link', param: 'token' });

  const told = async (): Promise<readonly string[]> => {
    const { attention } = await readMy(own, 'home.show', {});
    return attention.map(({ kind }) => kind);
  };
  expect(await told()).toContain('password_reset');
  const log = await gateway.admin('audit.list', {
    since_s: null,
    action: 'user',
    actor: null,
    subject: id,
    limit: 2,
    after: null,
  });
  expect(log.map(({ action, actor }) => [action, actor])).toEqual([
    ['user.password', 'reset link'],
    ['user.reset-link', expect.stringMatching(/^cli/)],
  ]);
  aheadMs = 8 * 86_400_000;
  expect(await told()).not.toContain('password_reset');
});

test('ends after an hour, by a newer one or a password, and for a disabled member', async () => {
  let aheadMs = 0;
  const clock = { ...SYSTEM_CLOCK, now: () => Date.now() + aheadMs };
  const gateway = await startGateway({ clock });
  const make = async (): Promise<string> =>
    (await gateway.admin('user.reset-link', { member: 'Anna' })).secret;
  const codeOf = async (token: string) => (await failureOf(await setPassword(gateway, token))).code;

  const first = await make();
  const second = await make();
  expect(await codeOf(first)).toBe('invalid_reset_link');
  aheadMs = 60 * 60_000;
  expect(await codeOf(second)).toBe('invalid_reset_link');
  const third = await make();
  await gateway.admin('user.password', { member: 'Anna', password: NEW });
  expect(await codeOf(third)).toBe('invalid_reset_link');
  const fourth = await make();
  await gateway.admin('user.disable', { member: 'Anna' });
  expect(await codeOf(fourth)).toBe('invalid_reset_link');
  await expect(make()).rejects.toThrow('is disabled');
});

test('guesses wait as wrong passwords do', async () => {
  const gateway = await startGateway();
  const statuses: number[] = [];
  for (let tries = 0; tries < 6; tries++) {
    statuses.push((await setPassword(gateway, newSecret('gwr'))).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
});
