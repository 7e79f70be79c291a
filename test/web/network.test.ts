/** Network: its members, what they share with each other, and invitations. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { givePassword, MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectGpuMachine } from '../support/gpu-machine.js';
import { expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { until } from '../support/until.js';

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

function atNetwork(who: { readonly email: string }): Promise<Page> {
  return openPage({ gateway, browser }, who, '/network');
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

function pressInDialog(page: Page, name: string): Promise<void> {
  return page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByLabel(`Actions for ${name}`, { exact: true }).click();
  await page.locator('.menu[open]').getByRole('button', { name: action, exact: true }).click();
}

async function member(name: string): Promise<{ readonly email: string }> {
  const email = `${name.toLowerCase()}@example.org`;
  await gateway.admin('user.create', { email, name, admin: false, password: null });
  givePassword(gateway, email);
  return { email };
}

/** Of an owner, with the other members. */
async function network(name: string, owner: { readonly email: string }, ...others: string[]) {
  const { id } = await gateway.admin('network.create', { name, owner: owner.email });
  for (const one of others) await gateway.admin('network.add', { network: id, member: one });
  return id;
}

test('a member without a network makes one, and invites somebody', async () => {
  const page = await atNetwork(await member('Nora'));
  await page.getByText('You are in no network yet.').waitFor();
  await expectSound(page, 'network-empty');
  await press(page, 'Create a network');
  await page.getByRole('textbox', { name: 'Name' }).fill('attic');
  await page.keyboard.press('Enter');
  const members = page.getByRole('table', { name: 'Members of attic' });
  await members.getByRole('row', { name: /Nora you owner/ }).waitFor();
  await page.getByText('You have no GPU to share yet.').waitFor();

  await press(page, 'Invite and share');
  await page.getByRole('textbox', { name: 'E-mail' }).fill('olga@example.org');
  await press(page, 'Create the link');
  const link = page.getByRole('group', { name: 'invite link' });
  const url = (await link.textContent()) ?? '';
  expect(url).toMatch(new RegExp(`^${gateway.address}/join#gwi_`));
  await expectSoundNarrow(page, 'network-invite');
  // A slip does not lose it.
  await page.keyboard.press('Escape');
  await page.getByText('Have you copied the link?').waitFor();
  await press(page, 'Done');
  await page.getByRole('row', { name: /olga@example.org attic/ }).waitFor();
  expect(await page.content()).not.toContain(url);

  const guest = await browser.newPage();
  expectProblem(guest, /401/);
  await guest.goto(url);
  await guest.getByLabel('Name', { exact: true }).fill('Olga');
  await guest.getByLabel('Password', { exact: true }).fill(MEMBER_PASSWORD);
  await guest.getByRole('button', { name: 'Join' }).click();
  await guest.getByRole('navigation', { name: 'Screens' }).waitFor();
  await members.getByRole('row', { name: /Olga member/ }).waitFor({ timeout: 10_000 });
});

test('one dialog makes a network, shares with it, and invites into it', async () => {
  const owner = await member('Rosa');
  const token = await gateway.admin('token.create', {
    owner: 'Rosa',
    name: 'loft-pc',
    expires_in_s: 600,
    replace: null,
  });
  await connectGpuMachine(gateway.address, await enroll(token.token));
  const page = await openPage({ gateway, browser }, owner, '/providers');
  await press(page, 'Invite and share');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name of the network' }).fill('club');
  await dialog.getByLabel('loft-pc: everything').check();
  await dialog.getByLabel('loft-pc: image-0').isDisabled();
  // Somebody who is a member already gets no link: the rest is done all the same.
  await dialog.getByRole('textbox', { name: 'E-mail' }).fill(gateway.ben.email);
  await expectSoundNarrow(page, 'invite-and-share');
  expectProblem(page, /409.*user\.invite/);
  await press(page, 'Share and create the link');
  await dialog.getByText('The network club is created.').waitFor();
  await dialog.getByText('Shared with club: loft-pc: everything.').waitFor();
  await dialog.getByText(/^Nobody is invited\. /).waitFor();
  await dialog.getByText('loft-pc: everything (shared already)').waitFor();
  await expectSoundNarrow(page, 'invite-and-share-failed');
  await dialog.getByRole('textbox', { name: 'E-mail' }).fill('sam@example.org');
  await press(page, 'Create the link');
  await dialog.getByRole('heading', { name: 'The invite for sam@example.org' }).waitFor();
  const link = dialog.getByRole('group', { name: 'invite link' });
  expect(await link.textContent()).toMatch(/\/join#gwi_/);
  // The clock of the page's times ticks every 5 s; an end after its last tick is no further away.
  await dialog.getByText(/it ends in 7 d\./).waitFor();
  await expectSound(page, 'invite-and-share-done');
  await press(page, 'Done');
  const { shares, members } = await gateway.admin('network.show', { network: 'club' });
  expect(shares).toMatchObject([{ provider: 'Rosa/loft-pc', model: null, service_id: null }]);
  expect(members).toHaveLength(1);
});

/** What the machine does with its join token: returns the token of its agent. */
async function enroll(token: string): Promise<string> {
  const response = await fetch(`${gateway.address}/agent/v1/enroll`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'loft-pc' }),
  });
  return ((await response.json()) as { readonly token: string }).token;
}

test('an open invite is revoked', async () => {
  const owner = await member('Pia');
  const id = await network('cellar', owner);
  const page = await atNetwork(owner);
  await page.getByText('None. Invite somebody').waitFor();
  await press(page, 'Invite and share');
  await page.getByRole('textbox', { name: 'E-mail' }).fill('quin@example.org');
  await press(page, 'Create the link');
  await press(page, 'Done');
  await press(page, 'Revoke the invite for quin@example.org');
  await page.getByText('The invite for quin@example.org is revoked.').waitFor();
  const invites = await gateway.admin('user.invites', {});
  expect(invites.find(({ email }) => email === 'quin@example.org')?.state).toBe('revoked');

  await choose(page, 'cellar', 'Rename…');
  await page.getByRole('textbox', { name: 'Name' }).fill('vault');
  await press(page, 'Rename');
  await page.getByRole('heading', { name: 'vault yours' }).waitFor();
  expect(await gateway.admin('network.show', { network: id })).toMatchObject({ name: 'vault' });
  // Its members may be asked for once more before the page knows that it is gone.
  expectProblem(page, /404.*network\.show/);
  await choose(page, 'vault', 'Delete…');
  await press(page, 'Delete vault');
  await page.getByText('You are in no network yet.').waitFor();
  const left = await gateway.admin('network.list', {});
  expect(left.some(({ id: one }) => one === id)).toBe(false);
});

test('the owner invites and removes members, and blocks one of them', async () => {
  const id = await network('loft', gateway.anna);
  const page = await atNetwork(gateway.anna);
  await press(page, 'Invite a member');
  const name = page.getByRole('textbox', { name: 'Name' });
  expectProblem(page, /404/);
  await name.fill('Nobody');
  await pressInDialog(page, 'Invite');
  await page.getByText("There is no member called 'Nobody'.").waitFor();
  await name.fill('Ben');
  await pressInDialog(page, 'Invite');
  const ben = page.getByRole('row', { name: /^Ben/ });
  await page.getByRole('row', { name: /^Ben invited not yet/ }).waitFor();
  await expectSoundNarrow(page, 'network-invited');
  const bens = await atNetwork(gateway.ben);
  await press(bens, 'Accept');
  await page.getByRole('row', { name: /^Ben member/ }).waitFor({ timeout: 10_000 });
  await bens.close();

  await choose(page, 'Ben in loft', 'Block…');
  await press(page, 'Block Ben');
  await ben.getByText('blocked').waitFor();
  expect((await blocksOf(page)).length).toBe(1);
  await press(page, 'Unblock Ben');
  await ben.getByText('blocked').waitFor({ state: 'detached' });
  await choose(page, 'Ben in loft', 'Block…');
  await press(page, 'Block Ben');
  await ben.getByText('blocked').waitFor();
  await choose(page, 'Ben in loft', 'Unblock');
  await ben.getByText('blocked').waitFor({ state: 'detached' });
  expect((await blocksOf(page)).length).toBe(0);

  await choose(page, 'Ben in loft', 'Remove…');
  await press(page, 'Remove Ben');
  await ben.waitFor({ state: 'detached' });
  const { members } = await gateway.admin('network.show', { network: id });
  expect(members.map(({ name: one }) => one)).toEqual(['Anna']);
});

test('an invited member declines, or is no longer invited, or joins', async () => {
  const vera = await member('Vera');
  const id = await network('porch', gateway.anna);
  const owners = await atNetwork(gateway.anna);
  const invite = async (): Promise<void> => {
    const porch = owners.getByRole('region', { name: 'porch', exact: true });
    await porch.getByRole('button', { name: 'Invite a member' }).click();
    await owners.getByRole('textbox', { name: 'Name' }).fill('Vera');
    await pressInDialog(owners, 'Invite');
    await owners.getByRole('row', { name: /^Vera invited/ }).waitFor();
  };
  const members = async (): Promise<string[]> =>
    (await gateway.admin('network.show', { network: id })).members.map(({ name }) => name);
  await invite();
  await press(owners, 'Withdraw the invitation of Vera to porch');
  await owners.getByText('Vera is no longer invited to porch.').waitFor();
  await owners.getByRole('row', { name: /^Vera/ }).waitFor({ state: 'detached' });

  await invite();
  const page = await atNetwork(vera);
  await page.goto('/');
  await page.getByRole('link', { name: 'Anna invites you to the network porch.' }).click();
  const card = page.getByRole('region', { name: 'Invitation to porch' });
  await card.getByText(/^Your calls may then run on machines/).waitFor();
  await expectSound(page, 'network-invitation');
  await press(page, 'Decline');
  await page.getByText('You have declined the invitation to porch.').waitFor();
  await card.waitFor({ state: 'detached' });
  expect(await members()).toEqual(['Anna']);

  await owners.getByRole('row', { name: /^Vera/ }).waitFor({ state: 'detached', timeout: 10_000 });
  await invite();
  await card.waitFor({ timeout: 10_000 });
  await card.getByRole('button', { name: 'Accept' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Members of porch' }).waitFor();
  await card.waitFor({ state: 'detached' });
  expect(await members()).toEqual(['Anna', 'Vera']);
});

/** As the page receives it. */
function blocksOf(page: Page): Promise<readonly unknown[]> {
  const url = '/api/console/v1/my/provider.blocks';
  return page.evaluate(`fetch('${url}').then((response) => response.json())`);
}

test('the matrix shares and unshares at once, and it is seen', async () => {
  await network('friends', gateway.anna, gateway.ben.email);
  await network('family', gateway.anna);
  for (const name of ['den-pc', 'hall-pc']) {
    await connectGpuMachine(gateway.address, await gateway.anna.enroll(name));
  }
  const page = await atNetwork(gateway.anna);
  const tick = (what: string, whom: string) =>
    page.getByRole('checkbox', { name: `Share ${what} of den-pc with ${whom}` });
  await tick('qwen3:8b', 'friends').check();
  await page.getByText('Shared with friends.').waitFor();
  await tick('sdxl', 'family').focus();
  await page.keyboard.press('Space');
  await page.getByText(/takes nobody else's work there/).waitFor();
  await press(page, 'Share with one person');
  await page.getByRole('combobox', { name: 'Person' }).selectOption('Ben');
  await press(page, 'Add');
  await tick('llama3.2:3b', 'Ben').check();
  await page.getByText('Shared with Ben.').waitFor();
  expect((await gateway.admin('provider.show', { provider: 'den-pc' })).shares).toMatchObject([
    { model: 'qwen3:8b', network: 'friends' },
    { model: 'sdxl', network: 'family' },
    { model: 'llama3.2:3b', member: 'Ben' },
  ]);
  await expectSound(page, 'network-full');
  // On a phone the keys move it, and what a row is about stays in sight.
  await page.setViewportSize({ width: 360, height: 780 });
  const matrix = page.getByRole('region', { name: 'What is shared with whom' });
  const what = matrix.getByRole('columnheader', { name: 'What', exact: true });
  const place = await what.boundingBox();
  await matrix.focus();
  await page.keyboard.press('ArrowRight');
  await until(() => page.evaluate<boolean>('document.activeElement.scrollLeft > 0'));
  expect((await what.boundingBox())?.x).toBe(place?.x);
  await page.setViewportSize({ width: 1440, height: 900 });

  const bens = await atNetwork(gateway.ben);
  const received = bens.getByRole('table', { name: 'Shared with you' });
  await received.getByRole('row', { name: /qwen3:8b Anna\/den-pc online friends/i }).waitFor();
  await received.getByRole('row', { name: /llama3.2:3b .* with you alone/ }).waitFor();
  expect(await received.getByRole('row').count()).toBe(1 + 2);
  await expectSoundNarrow(bens, 'network-received');

  await tick('qwen3:8b', 'friends').uncheck();
  await page.getByText('No longer shared with friends.').waitFor();
  const { shares } = await gateway.admin('provider.show', { provider: 'den-pc' });
  expect(shares.some(({ model }) => model === 'qwen3:8b')).toBe(false);
  await bens.getByText('qwen3:8b').waitFor({ state: 'detached', timeout: 10_000 });
});

test('a member leaves, and what waits for an answer says so', async () => {
  const rita = await member('Rita');
  const id = await network('yard', gateway.anna, rita.email);
  const page = await atNetwork(rita);
  await page.getByRole('table', { name: 'Members of yard' }).waitFor();
  await choose(page, 'yard', 'Leave…');
  await press(page, 'Leave yard');
  await page.getByText('You are in no network yet.').waitFor();
  const { members } = await gateway.admin('network.show', { network: id });
  expect(members.map(({ name }) => name)).toEqual(['Anna']);

  await refuseUntilRetry(page, '**/my/network.list', 'Not now.');
  await page.reload();
  await page.getByText('Not now.').waitFor();
  await expectSoundNarrow(page, 'network-error');
  await press(page, 'Try again');
  await page.getByText('You are in no network yet.').waitFor();
});
