import { callRunning } from '@inference-gateway/coordinator/cli/client';
import { newSecret } from '@inference-gateway/shared/ids';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../support/openapi.js';
import { cookieOf, PASSWORD, SESSION_PATH } from './account-calls.js';
import { startFresh } from './fresh-coordinator.js';
import type { Fresh } from './fresh-coordinator.js';
import { failureOf } from './requests.js';

const PATH = '/api/setup';

async function setUp({ coordinator }: Fresh, body: object): Promise<Response> {
  const response = await fetch(`${coordinator.address}${PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await expectDocumented(PATH, 'POST', response);
  return response;
}

async function isOpen({ coordinator }: Fresh): Promise<boolean> {
  const response = await fetch(`${coordinator.address}${PATH}`);
  await expectDocumented(PATH, 'GET', response);
  return response.status === 204;
}

/** Asks who is logged in, as a page does at first. */
async function look({ coordinator }: Fresh): Promise<Response> {
  const response = await fetch(`${coordinator.address}${SESSION_PATH}`);
  await expectDocumented(SESSION_PATH, 'GET', response);
  return response;
}

function first(token: string, name = 'Anna') {
  return { token, name, email: `${name.toLowerCase()}@example.org`, password: PASSWORD };
}

describe('the setup link', () => {
  it('lies in a file that its operator alone can read, and makes the first admin', async () => {
    const fresh = await startFresh();
    const { coordinator, file, token } = fresh;
    expect(coordinator.setupLink).toBe(`${coordinator.address}/setup#${token}`);
    expect(readFileSync(file, 'utf8')).toBe(`${coordinator.setupLink}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await isOpen(fresh)).toBe(true);
    // What every stranger is told names the file, and neither the secret nor where the file lies.
    const told = await failureOf(await look(fresh));
    expect(told).toMatchObject({ status: 401, code: 'not_set_up' });
    expect(told.message).toContain("the file 'setup-link' in the coordinator's data folder");
    expect(told.message).not.toMatch(new RegExp(`${token}|${fresh.dataDir}`));

    const made = await setUp(fresh, first(coordinator.setupLink ?? ''));
    expect(made.status).toBe(201);
    expect(await made.json()).toMatchObject({ name: 'Anna', role: 'admin' });
    const cookie = cookieOf(made);
    const seen = await fetch(`${coordinator.address}${SESSION_PATH}`, { headers: { cookie } });
    expect(await seen.json()).toMatchObject({ member: { name: 'Anna', role: 'admin' } });

    expect(existsSync(file)).toBe(false);
    expect(await isOpen(fresh)).toBe(false);
    expect(await failureOf(await look(fresh))).toMatchObject({ code: 'not_logged_in' });
    const networks = await callRunning(fresh.dataDir, 'network.list', {});
    expect(networks?.result).toMatchObject([{ name: 'friends', owner: 'Anna', members: 1 }]);
    expect(await failureOf(await setUp(fresh, first(token, 'Ben')))).toMatchObject({ status: 404 });
  });

  it('of twenty who use it at once, one becomes a member', async () => {
    const fresh = await startFresh();
    // Only ten a minute from one address are processed.
    const tries = Array.from({ length: 20 }, (_, n) => setUp(fresh, first(fresh.token, `N${n}`)));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([201, 404, 429]));
    const users = await callRunning(fresh.dataDir, 'user.list', {});
    expect(users?.result).toHaveLength(1);
  });

  it('refuses another secret, and what no member may have, and stays good', async () => {
    const fresh = await startFresh();
    const another = await setUp(fresh, first(newSecret('gwf')));
    expect(await failureOf(another)).toMatchObject({ status: 401, code: 'invalid_setup_link' });
    const short = await setUp(fresh, { ...first(fresh.token), password: 'short' });
    expect(await failureOf(short)).toMatchObject({ status: 400, param: 'password' });
    const nowhere = await setUp(fresh, { ...first(fresh.token), email: 'nowhere' });
    expect(await failureOf(nowhere)).toMatchObject({ status: 400, param: 'email' });
    expect((await setUp(fresh, first(fresh.token))).status).toBe(201);
  });

  it('ends with a member who came another way', async () => {
    const fresh = await startFresh();
    const user = { email: 'anna@example.org', name: 'Anna', admin: true, password: null };
    await callRunning(fresh.dataDir, 'user.create', user);
    expect(await isOpen(fresh)).toBe(false);
    expect((await setUp(fresh, first(fresh.token, 'Ben'))).status).toBe(404);
  });

  it('is another one at every start, and none once somebody is a member', async () => {
    const fresh = await startFresh();
    await fresh.coordinator.drain();
    expect(existsSync(fresh.file)).toBe(false);
    const second = await startFresh(fresh.dataDir);
    expect(second.token).not.toBe(fresh.token);
    expect((await setUp(second, first(second.token))).status).toBe(201);
    await second.coordinator.drain();
    // The file that a crash would leave.
    writeFileSync(fresh.file, 'http://old');
    const third = await startFresh(fresh.dataDir);
    expect(third.coordinator.setupLink).toBeNull();
    expect(existsSync(fresh.file)).toBe(false);
    expect(await isOpen(third)).toBe(false);
  });
});
