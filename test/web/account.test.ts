/** The ways in: logging in, an invite, the first admin's link, and a machine's code. */
import { Agent } from '@inference-gateway/agent/agent';
import { newSecret } from '@inference-gateway/shared/ids';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { my } from '../api/console-calls.js';
import { visit } from '../api/visitor.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn } from '../support/page-session.js';

let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await openGateway();
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

/** Of somebody who is not logged in: each page begins by asking who they are. */
async function stranger(): Promise<Page> {
  const page = await browser.newPage();
  expectProblem(page, /401.*\/session/);
  return page;
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

async function type(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await page.getByLabel(label, { exact: true }).fill(text);
  }
}

test('a visitor who opens a deep link logs in, and is there', async () => {
  const page = await stranger();
  await page.goto('/settings/security?x=1');
  await type(page, { 'E-mail': gateway.anna.email, Password: 'not my password' });
  await press(page, 'Log in');
  await page.getByText('do not belong together').waitFor();
  await expectSound(page, 'log-in');
  await type(page, { Password: MEMBER_PASSWORD });
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /this browser/ }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/security');
  await page.locator('.sidebar-foot').getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('the log-in page leads to what it is told, and never to another site', async () => {
  const ways = { '/settings/token': '/settings/token', '//evil.example/': '/', '/\\evil': '/' };
  for (const [next, path] of Object.entries(ways)) {
    const page = await browser.newPage();
    await logIn(page, gateway, gateway.anna);
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await page.locator('main h1').waitFor();
    expect(page.url()).toBe(`${gateway.address}${path}`);
  }
});

test('an invite makes a member, whose link leaves the address bar at once', async () => {
  const page = await stranger();
  const anna = await visit(gateway, gateway.anna.email);
  const { id: network } = await my(anna, 'network.create', { name: 'tea & cake' });
  const invite = { email: 'iris@example.org', network, expires_in_s: 3_600 };
  const { secret } = await my(anna, 'user.invite', invite);
  await page.goto(`/join#${secret}`);
  const host = new URL(gateway.address).host;
  await page.getByText(`Anna invites you to the network tea & cake on ${host}.`).waitFor();
  expect(page.url()).toBe(`${gateway.address}/join`);
  await expectSound(page, 'join');

  expectProblem(page, /(400|409).*\/api\/join/);
  await type(page, { Name: 'Anna', Password: 'short' });
  await press(page, 'Join');
  await page.getByText('The password is not allowed').waitFor();
  await type(page, { Password: 'twelve characters' });
  await press(page, 'Join');
  await page.getByText("There is a member 'Anna' already.").waitFor();
  await type(page, { Name: 'Iris' });
  await press(page, 'Join');
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  expect(page.url()).toBe(`${gateway.address}/`);
  const users = await gateway.admin('user.list', {});
  expect(users.find(({ email }) => email === 'iris@example.org')?.name).toBe('Iris');
});

test('an invite that is opened by somebody who is logged in waits for their log-out', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const invite = { email: 'juno@example.org', admin: false, network: null, expires_in_s: 3_600 };
  const { secret } = await gateway.admin('user.invite', invite);
  await page.goto(`/join#${secret}`);
  await page.getByText('You are logged in as Anna. Log out to accept this invite').waitFor();
  expect(page.url()).toBe(`${gateway.address}/join`);
  await expectSound(page, 'join-logged-in');
  await page.getByRole('link', { name: 'Stay logged in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();

  await page.goto(`/join#${secret}`);
  await press(page, 'Log out');
  await type(page, { Name: 'Juno', Password: 'twelve characters' });
  await press(page, 'Join');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.locator('.sidebar-foot .name', { hasText: 'Juno' }).waitFor({ state: 'attached' });
});

test('an invite that is not good says what to do, and one may be pasted', async () => {
  const page = await stranger();
  expectProblem(page, /401.*\/api\/join/);
  await page.goto('/join');
  await type(page, { Name: 'Eve', Password: 'twelve characters' });
  await type(page, { 'Invite link': `${gateway.address}/join#${newSecret('gwi')}` });
  await press(page, 'Join');
  await page.getByText('The invite is not accepted').waitFor();
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a gateway that is set up already sends the setup page to log in', async () => {
  const page = await stranger();
  expectProblem(page, /404.*\/api\/setup/);
  await page.goto(`/setup#${newSecret('gwf')}`);
  await page.getByText('This gateway is set up already.').waitFor();
  await expectSound(page, 'set-up-closed');
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

const DEVICE = '/agent/v1/device';

/** A machine begins to log in. */
async function askIn(name: string) {
  const response = await fetch(`${gateway.address}${DEVICE}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, host: 'attic' }),
  });
  return (await response.json()) as {
    readonly device_code: string;
    readonly user_code: string;
    readonly verification_uri_complete: string;
  };
}

/** It polls once, as it does after somebody has approved it. */
async function collect(deviceCode: string): Promise<Response> {
  return fetch(`${gateway.address}${DEVICE}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ device_code: deviceCode }),
  });
}

/** The machine itself, with the token that it was given. */
async function connect(token: string, name: string): Promise<void> {
  const agent = new Agent({
    url: gateway.address,
    token,
    name,
    services: [],
    host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
    logger: createLogger('silent'),
    once: false,
    ffmpeg: null,
  });
  onTestFinished(() => agent.drain());
  await agent.start();
}

test('a machine is let in by its code, and is awaited until it is online', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const { device_code, user_code, verification_uri_complete: link } = await askIn('attic-pc');
  await page.goto(link);
  await page.getByRole('heading', { name: 'Add a machine' }).waitFor();
  await expectSound(page, 'device-code');
  expect(await page.getByLabel('Code').inputValue()).toBe(user_code);
  await press(page, 'Look it up');
  await page.getByRole('heading', { name: 'Is this your machine?' }).waitFor();
  for (const fact of [user_code, 'attic-pc', 'attic', '127.0.0.1', 'Anna (you)']) {
    await page.getByRole('definition').filter({ hasText: fact }).first().waitFor();
  }
  await expectSound(page, 'device-asking');
  await press(page, 'Approve attic-pc');
  await page.getByText('Approved. Waiting for attic-pc to connect…').waitFor();
  await expectSound(page, 'device-waiting');

  const collected = await collect(device_code);
  expect(collected.status).toBe(200);
  const { token } = (await collected.json()) as { token: string };
  await connect(token, 'attic-pc');
  await page.getByText('attic-pc is online.').waitFor();
  const share = page.getByRole('link', { name: 'Choose what to share' });
  const [provider] = (await gateway.admin('provider.list', {})).filter(
    ({ name }) => name === 'attic-pc',
  );
  expect(await share.getAttribute('href')).toBe(`/providers/${provider?.id}`);
  expect(provider?.owner).toBe('Anna');
});

test('a machine that is not one’s own is denied, and a wrong code is told', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.ben);
  const { device_code, user_code } = await askIn('odd-pc');
  expectProblem(page, /(400|404).*device\.find/);
  await page.goto('/device');
  await type(page, { Code: 'no code' });
  await press(page, 'Look it up');
  await page.getByText('a code has eight letters').waitFor();
  await expectAccessible(page);
  await type(page, { Code: user_code.toLowerCase().replace('-', ' ') });
  await page.keyboard.press('Enter');
  await press(page, 'Deny');
  await page.getByText('odd-pc was not let in.').waitFor();
  expect(await (await collect(device_code)).json()).toMatchObject({
    error: { code: 'access_denied' },
  });
  await press(page, 'Type another code');
  await page.getByLabel('Code').waitFor();
});

// The last one: later log-ins from the same address have to wait.
test('too many wrong passwords must wait, and the button says how long', async () => {
  const page = await stranger();
  expectProblem(page, /429/);
  await page.goto('/login');
  await type(page, { 'E-mail': 'nobody@example.org', Password: 'wrong wrong wrong' });
  const headers = { 'content-type': 'application/json', origin: gateway.address };
  const body = JSON.stringify({ email: 'nobody@example.org', password: 'wrong wrong wrong' });
  const url = `${gateway.address}/api/console/v1/session`;
  for (let tries = 0; tries < 8; tries++) await fetch(url, { method: 'POST', headers, body });
  await press(page, 'Log in');
  await page.getByText('Too many wrong passwords in a row.').waitFor();
  const wait = page.getByRole('button', { name: /Wait \d+ s/ });
  await wait.waitFor();
  expect(await wait.isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Log in' }).waitFor();
});
