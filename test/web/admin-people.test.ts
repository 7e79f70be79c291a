/** Admin: the overview, users, invites, networks. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choose, confirm, press, rowOf } from '../support/admin-page.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { addAdmin, logIn, openPage } from '../support/page-session.js';
import type { WithPassword } from '../support/page-session.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let browser: TestBrowser;
let admin: WithPassword;

beforeAll(async () => {
  gateway = await openGateway({ providerApproval: true });
  browser = await openBrowser(gateway);
  admin = await addAdmin(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

function open(path: string): Promise<Page> {
  return openPage({ gateway, browser }, admin, path);
}

function show(member: string) {
  return gateway.admin('user.show', { member });
}

/** A machine begins to log in. */
async function askIn(name: string): Promise<{ readonly user_code: string }> {
  const response = await fetch(`${gateway.address}/agent/v1/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, host: 'attic' }),
  });
  return (await response.json()) as { user_code: string };
}

test('a member who is no admin is told so, and sees no way to it', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.ben);
  await page.goto('/admin/users');
  await page.getByText('Only admins see this.').waitFor();
  expect(await page.getByRole('link', { name: 'Admin', exact: true }).count()).toBe(0);
  await expectSound(page, 'admin-not-allowed');
});

test('the overview has what waits for an admin and what is wrong', async () => {
  const page = await open('/admin');
  await page.getByText('The gateway has no problems.').waitFor();
  await page.getByText('No provider and no machine waits for approval.').waitFor();
  const tile = page.locator('.tile', { hasText: 'Requests a minute' });
  await tile.getByRole('img', { name: '0 requests in 60 minutes.' }).waitFor();
  await page.locator('.tile', { hasText: /First token, p50\s*–\s*p95 –/ }).waitFor();
  await page.locator('.tile', { hasText: /Providers online\s*0\/0/ }).waitFor();
  await expectSound(page, 'admin-overview-calm');

  await gateway.anna.enroll('den-pc');
  const { user_code: code } = await askIn('attic-pc');
  await askIn('stranger');
  await gateway.admin('queue.pause', {});
  await page.reload();
  await page.getByText('The queue is paused: no waiting job starts.').waitFor();
  await page.getByText(code).waitFor();
  await expectSound(page, 'admin-overview');
  await page.getByRole('link', { name: 'The queue is paused' }).click();
  await press(page, 'Resume the queue');
  await until(async () => !(await gateway.admin('system.show', {})).queue_paused);
});

test('what waits for an admin is approved or denied on the overview', async () => {
  const page = await open('/admin');
  await press(page, 'Approve Anna/den-pc');
  await page.getByText('Anna/den-pc is approved, and gets work.').waitFor();
  const providers = await gateway.admin('provider.list', {});
  expect(providers.find(({ name }) => name === 'den-pc')).toMatchObject({ approved: true });

  await choose(page, 'attic-pc', 'Approve…');
  await page.getByLabel('Owner').selectOption('Ben');
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByText('attic-pc is let in.').waitFor();
  await confirm(page, 'stranger', 'Deny');
  await page.getByText('No provider and no machine waits for approval.').waitFor();
  expect(await gateway.admin('device.list', {})).toEqual([]);
});

test('users are found, limited, made admins, logged out, disabled and enabled', async () => {
  const page = await open('/admin/users');
  await rowOf(page, /Ben/).waitFor();
  await expectSound(page, 'admin-users');
  await choose(page, 'Ben', 'Set limits…');
  await page.getByLabel('Requests in a window').fill('7');
  await expectAccessible(page);
  await press(page, 'Save');
  await rowOf(page, /Ben.*7 a window/).waitFor();
  expect((await show('Ben')).limits).toMatchObject({ requests: 7, concurrent: null });
  await choose(page, 'Ben', 'Set limits…');
  await page.getByLabel('Requests in a window').fill('');
  await page.getByLabel('Requests at once').fill('2');
  await press(page, 'Save');
  await rowOf(page, /Ben.*2 at once/).waitFor();
  expect((await show('Ben')).limits).toMatchObject({ requests: null, concurrent: 2 });
  // Taking one away and giving the other is one change: no call meets half of it.
  const changes = { since_s: null, actor: null, subject: null, limit: 10 };
  const entries = await gateway.admin('audit.list', { ...changes, action: 'limit.set' });
  expect(entries).toHaveLength(2);
  await choose(page, 'Ben', 'Set limits…');
  await page.getByText('Used: 0').first().waitFor();
  await page.getByLabel('Tokens a day').fill('1000');
  await page.getByLabel('Images a month').fill('20');
  await expectSound(page, 'admin-user-limits');
  await press(page, 'Save');
  await rowOf(page, /Ben.*2 at once, 1,000 tokens a day, 20 images a month/).waitFor();
  const { day, month } = (await show('Ben')).limits;
  expect([day.tokens, day.images, month.images]).toEqual([1_000, null, 20]);

  await confirm(page, 'Ben', 'Make an admin');
  await rowOf(page, /Ben.*admin/).waitFor();
  expect((await show('Ben')).role).toBe('admin');
  await confirm(page, 'Ben', 'Make a member');
  await logIn(await browser.newPage(), gateway, gateway.ben);
  await page.reload();
  await confirm(page, 'Ben', 'Log out everywhere');
  expect((await show('Ben')).sessions).toBe(0);

  await confirm(page, 'Ben', 'Disable');
  await rowOf(page, /Ben.*disabled/i).waitFor();
  await page.getByLabel('State').selectOption('Disabled');
  await rowOf(page, /Anna/).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?state=disabled');
  await choose(page, 'Ben', 'Enable');
  await page.getByText('No members match these filters.').waitFor();
  expect((await show('Ben')).state).toBe('active');
  await expectAccessible(page);
  await press(page, 'Clear the filters');
  await page.getByLabel('Search members').fill('ANNA@');
  await rowOf(page, /Ben/).waitFor({ state: 'detached' });
  await rowOf(page, /Anna/).waitFor();
});

test('a new password lets its member in, and one cannot disable oneself', async () => {
  const page = await open('/admin/users');
  await choose(page, 'Ben', 'Set a password…');
  await page.getByRole('textbox', { name: 'New password' }).fill('short');
  expectProblem(page, /400.*user\.password/);
  await press(page, 'Set the password');
  await page.getByRole('alert').waitFor();
  await page.getByRole('textbox', { name: 'New password' }).fill(MEMBER_PASSWORD);
  await press(page, 'Set the password');
  await page.getByText('Ben has a new password.').waitFor();
  await logIn(await browser.newPage(), gateway, gateway.ben);
  await page.getByLabel('Actions for root', { exact: true }).click();
  await page.getByRole('button', { name: 'Set limits…' }).waitFor();
  expect(await page.getByRole('button', { name: 'Disable…' }).count()).toBe(0);
});

test('a user is deleted once it is told what goes with them, and their name is typed', async () => {
  // Wider than a phone, and all of it must be readable before it is typed.
  const email = 'danawithalongaddress@machines.example.org';
  const password = MEMBER_PASSWORD;
  await gateway.admin('user.create', { email, name: 'Dana', admin: false, password });
  await gateway.admin('network.create', { name: 'dana-net', owner: 'Dana' });
  const page = await open('/admin/users');
  await choose(page, 'Dana', 'Delete…');
  const dialog = page.getByRole('dialog', { name: 'Delete Dana?' });
  const lines = dialog.getByRole('list', { name: 'Consequences' }).getByRole('listitem');
  await lines.first().waitFor();
  const preview = await gateway.admin('user.delete', { member: 'Dana', dry_run: true });
  expect(preview.consequences).toContain('networks that they own end: dana-net');
  expect(await lines.allTextContents()).toEqual(preview.consequences);
  const last = dialog.getByRole('button', { name: 'Delete', exact: true });
  const typed = dialog.getByRole('textbox', { name: `Type Dana or ${email} to confirm` });
  expect(await last.isDisabled()).toBe(true);
  await typed.fill('Ben');
  expect(await last.isDisabled()).toBe(true);
  await expectSound(page, 'admin-delete-user');
  await typed.fill(email.replace('dana', 'Dana'));
  await last.click();
  await page.getByText('Dana is deleted.').waitFor();
  await rowOf(page, /Dana/).waitFor({ state: 'detached' });
  const names = (await gateway.admin('user.list', {})).map(({ name }) => name);
  expect(names).not.toContain('Dana');

  await page.getByLabel('Actions for root', { exact: true }).click();
  await page.getByRole('button', { name: 'Set limits…' }).waitFor();
  expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
});

test('an invite is shown once, lets its member in, and is revoked', async () => {
  const page = await open('/admin/invites');
  await page.getByText('There are no invites yet.').waitFor();
  await expectSound(page, 'admin-invites-empty');
  await press(page, 'Invite somebody');
  await page.getByLabel('E-mail').fill('carla@example.org');
  await page.getByLabel('The link expires').selectOption('In 1 day');
  await expectAccessible(page);
  await press(page, 'Create the link');
  const link = (await page.getByRole('group', { name: 'link', exact: true }).textContent()) ?? '';
  expect(link).toMatch(new RegExp(`^${gateway.address}/join#gwi_\\w+$`));
  await press(page, 'Done');
  await rowOf(page, /carla@example\.org.*open/i).waitFor();
  expect(await page.content()).not.toContain('gwi_');
  const guest = await browser.newPage();
  expectProblem(guest, /401/);
  await guest.goto(link);
  await guest.getByRole('textbox', { name: 'Name' }).fill('Carla');
  await guest.getByRole('textbox', { name: 'Password' }).fill(MEMBER_PASSWORD);
  await guest.getByRole('button', { name: 'Join' }).click();
  await guest.getByRole('heading', { name: 'Home' }).waitFor();

  const invite = { email: 'dora@example.org', admin: false, network: null, expires_in_s: 60 };
  await gateway.admin('user.invite', invite);
  await page.reload();
  await rowOf(page, /carla@example\.org.*used/i).waitFor();
  await confirm(page, 'the invite for dora@example.org', 'Revoke');
  await rowOf(page, /dora@example\.org.*revoked/i).waitFor();
  const invites = await gateway.admin('user.invites', {});
  expect(invites.find(({ email }) => email === invite.email)).toMatchObject({ state: 'revoked' });
  await page.getByLabel('State').selectOption('Open');
  await page.getByText('No invites match these filters.').waitFor();
});

test('networks are created, filled, renamed and deleted', async () => {
  const page = await open('/admin/networks');
  await page.getByText('There are no networks yet.').waitFor();
  await press(page, 'Create network');
  await page.getByRole('textbox', { name: 'Name' }).fill('friends');
  await page.getByLabel('Owner').selectOption('Anna');
  await press(page, 'Create');
  await rowOf(page, /friends Anna 1/).waitFor();
  await choose(page, 'friends', 'Members…');
  await page.getByLabel('Add a member').selectOption('Ben');
  await press(page, 'Add');
  await page.getByRole('button', { name: 'Remove Ben from the network' }).waitFor();
  await expectSound(page, 'admin-network-members');
  const members = async () =>
    (await gateway.admin('network.show', { network: 'friends' })).members.map(({ name }) => name);
  expect(await members()).toEqual(['Anna', 'Ben']);
  await press(page, 'Remove Ben from the network');
  await until(async () => (await members()).length === 1);
  await press(page, 'Done');

  await choose(page, 'friends', 'Rename…');
  await page.getByRole('textbox', { name: 'Name' }).fill('family');
  await press(page, 'Rename');
  await rowOf(page, /family Anna 1/).waitFor();
  await confirm(page, 'family', 'Delete');
  await page.getByText('There are no networks yet.').waitFor();
  expect(await gateway.admin('network.list', {})).toEqual([]);
});
