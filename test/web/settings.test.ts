/** Settings other than keys: the profile, sessions, appearance. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { openPage } from '../support/page-session.js';
import { until } from '../support/until.js';

const NEW_PASSWORD = 'a longer one than before';
const LAPTOP = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

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

function open(path: string, who: { readonly email: string }): Promise<Page> {
  return openPage({ gateway, browser }, who, path);
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** From another browser. */
async function sessionOf(email: string, password = MEMBER_PASSWORD): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    origin: gateway.address,
    'user-agent': LAPTOP,
  };
  const body = JSON.stringify({ email, password });
  return fetch(`${gateway.address}/api/console/v1/session`, { method: 'POST', headers, body });
}

test('excerpts are switched off after a question, and on again', async () => {
  const page = await open('/settings', gateway.ben);
  const box = page.getByLabel(/Keep an excerpt/);
  await box.click();
  await expectAccessible(page);
  await press(page, 'Keep it');
  expect(await box.isChecked()).toBe(true);
  await box.click();
  await press(page, 'Erase excerpts');
  await page.getByText('Your excerpts are erased.').waitFor();
  expect(await box.isChecked()).toBe(false);
  await page.reload();
  await until(async () => !(await box.isChecked()));
  await box.click();
  await page.getByText('Excerpts are kept from now on.').waitFor();
  expect(await box.isChecked()).toBe(true);
});

test('the profile has the name to change, and what only an admin changes', async () => {
  const page = await open('/settings', gateway.ben);
  await page.getByText('ben@example.org').waitFor();
  await expectSound(page, 'profile');
  await page.getByLabel('Name').fill('Benedict');
  await press(page, 'Save');
  await page.getByText('Your name is changed.').waitFor();
  await page.locator('.sidebar-foot', { hasText: 'Benedict' }).waitFor();
  const users = await gateway.admin('user.list', {});
  expect(users.find(({ email }) => email === 'ben@example.org')?.name).toBe('Benedict');

  expectProblem(page, /409/);
  await page.getByLabel('Name').fill('Anna');
  await press(page, 'Save');
  await page.getByRole('alert').waitFor();
});

test('browsers that are logged in are listed and ended, one or all others', async () => {
  await sessionOf(gateway.anna.email);
  const page = await open('/settings/security', gateway.anna);
  const laptop = page.getByRole('row', { name: /Firefox on Linux/ });
  await laptop.waitFor();
  await page.getByRole('row', { name: /this browser/ }).waitFor();
  await expectSound(page, 'security');
  await laptop.getByRole('button').click();
  await laptop.waitFor({ state: 'detached' });

  await sessionOf(gateway.anna.email);
  await sessionOf(gateway.anna.email);
  await page.reload();
  await press(page, 'Log out everywhere else');
  await page.getByText('2 other browsers must log in again.').waitFor();
  await press(page, 'Log out the others');
  await page.getByText('Every other browser is logged out.').waitFor();
  expect(await gateway.admin('user.sessions', { member: gateway.anna.id })).toHaveLength(1);
  await page.getByRole('row', { name: /this browser/ }).waitFor();
});

test('a member who knows the password changes it, and other sessions end', async () => {
  const other = await open('/settings/security', gateway.ben);
  await other.getByRole('heading', { name: 'Where you are logged in' }).waitFor();
  const page = await open('/settings/security', gateway.ben);
  const current = page.getByLabel('Current password', { exact: true });
  const next = page.getByLabel('New password', { exact: true });

  expectProblem(page, /400.*password/);
  await current.fill(MEMBER_PASSWORD);
  await next.fill('too short');
  await press(page, 'Change the password');
  await page.getByText('The password is not allowed').waitFor();

  expectProblem(page, /401.*password/);
  await current.fill('not my password at all');
  await next.fill(NEW_PASSWORD);
  await press(page, 'Change the password');
  await page.getByText('This is not your current password.').waitFor();
  await expectAccessible(page);

  await current.fill(MEMBER_PASSWORD);
  await press(page, 'Change the password');
  await page.getByText('Your password is changed.').waitFor();
  await until(async () => (await current.inputValue()) === '');
  expect((await sessionOf('ben@example.org')).status).toBe(401);
  expect((await sessionOf('ben@example.org', NEW_PASSWORD)).status).toBe(204);
  await page.reload();
  await page.getByRole('row', { name: /this browser/ }).waitFor();

  expectProblem(other, /401/);
  await other.reload();
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a password can be looked at while it is typed', async () => {
  const page = await open('/settings/security', gateway.anna);
  const next = page.getByLabel('New password', { exact: true });
  await next.fill('seen by me alone');
  expect(await next.getAttribute('type')).toBe('password');
  await page.getByLabel('Show the password').last().click();
  expect(await next.getAttribute('type')).toBe('text');
  expect(await next.inputValue()).toBe('seen by me alone');
  await page.getByLabel('Hide the password').click();
  expect(await next.getAttribute('type')).toBe('password');
});

test('the theme is chosen, and kept in this browser', async () => {
  const page = await open('/settings/appearance', gateway.anna);
  const theme = () => page.evaluate<string>('getComputedStyle(document.body).colorScheme');
  await page.getByText('As the system').waitFor();
  await expectSound(page, 'appearance');
  await page.getByText('Dark', { exact: true }).click();
  expect(await theme()).toBe('dark');
  await page.reload();
  await page.getByText('Dark', { exact: true }).waitFor();
  expect(await theme()).toBe('dark');
  await page.getByText('Light', { exact: true }).click();
  expect(await theme()).toBe('light');
  await page.getByText('As the system').click();
  expect(await theme()).toBe('light dark');
});

test('the tabs lead from setting to setting, and what is none says so', async () => {
  const page = await open('/settings/constructor', gateway.anna);
  await page.getByText('There is no such setting.').waitFor();
  await page.getByRole('link', { name: 'Go to your keys' }).click();
  await page.getByRole('row', { name: /test/ }).waitFor();
  for (const name of ['Profile', 'Security', 'Appearance', 'Token']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.locator(`.tabs [aria-current=page]`, { hasText: name }).waitFor();
  }
});
