/** Providers: a member's machines, from the command that adds one to its shares. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { givePassword, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectGpuMachine } from '../support/gpu-machine.js';
import { expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await openGateway();
  browser = await openBrowser(gateway);
  await gateway.admin('network.create', { name: 'friends', owner: gateway.anna.email });
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

async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByLabel(`Actions for ${name}`).click();
  await page.getByRole('button', { name: action, exact: true }).click();
}

/** Of Anna's, online, with two cards. */
async function machine(name: string): Promise<string> {
  await connectGpuMachine(gateway.address, await gateway.anna.enroll(name));
  return (await shown(name)).id;
}

function shown(name: string) {
  return gateway.admin('provider.show', { provider: name });
}

/** Runs the line that the page shows, in a new HOME; answers the agent's own token. */
async function runShown(page: Page): Promise<string> {
  const line = page.getByRole('dialog').getByRole('group', { name: 'command' }).first();
  const home = await temporaryFolder();
  const env = { HOME: home, PATH: process.env['PATH'] };
  const child = spawn('sh', ['-c', (await line.textContent()) ?? ''], { env, detached: true });
  const ended = once(child, 'close');
  const token = join(home, '.config', 'gateway-agent', 'config.json.token');
  await until(() => existsSync(token) || child.exitCode !== null);
  // It goes on to serve, or says that it found nothing to serve.
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await ended;
  return (await readFile(token, 'utf8')).trim();
}

test('the first GPU: a command that runs as pasted, then what to share', async () => {
  const cleo = { email: 'cleo@example.org' };
  await gateway.admin('user.create', { ...cleo, name: 'Cleo', admin: false, password: null });
  givePassword(gateway, cleo.email);
  await gateway.admin('network.create', { name: 'club', owner: cleo.email });
  const page = await open('/providers', cleo);
  await page.getByText('You have no GPU here yet.').waitFor();
  await page.getByText(`curl -fsSL ${gateway.address}/install.sh | sh`, { exact: true }).waitFor();
  await page.getByRole('radio', { name: 'Windows' }).check();
  await page.getByText(`irm ${gateway.address}/install.ps1 | iex`, { exact: true }).waitFor();
  await expectSoundNarrow(page, 'providers-empty');
  await press(page, 'Add your first GPU');
  await page.getByRole('textbox', { name: 'Name' }).fill('attic-pc');
  await page.keyboard.press('Enter');
  await page.getByText('Waiting for the first command…').waitFor();
  await expectSoundNarrow(page, 'providers-waiting');
  const token = await runShown(page);
  await page.getByText('attic-pc is enrolled. Waiting for its agent to connect…').waitFor();
  await connectGpuMachine(gateway.address, token);
  await page.getByText('attic-pc is connected.').waitFor();
  const tick = page.getByRole('checkbox', { name: 'Share qwen3:8b of attic-pc with club' });
  await tick.check();
  await page.getByText('Shared with club.').waitFor();
  await expectSound(page, 'providers-connected');
  const { shares } = await shown('attic-pc');
  expect(shares).toMatchObject([{ model: 'qwen3:8b', network: 'club' }]);
  await press(page, 'Done');
  await page.getByRole('row', { name: /attic-pc/ }).waitFor();
});

test('a machine that shows a code is let in beside the line to paste', async () => {
  const page = await open('/providers?new=1', gateway.ben);
  const { user_code: code } = await askIn('shed-pc');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Or let the machine show a code').waitFor();
  await expectSoundNarrow(page, 'providers-add');
  await dialog.getByRole('textbox', { name: 'Code' }).fill(code);
  await press(page, 'Look it up');
  await dialog.getByRole('heading', { name: 'Is this your machine?' }).waitFor();
  expect(await dialog.getByRole('textbox', { name: 'Name' }).count()).toBe(0);
  await expectSoundNarrow(page, 'providers-code');
  await press(page, 'Approve shed-pc');
  await dialog.getByText('Approved. Waiting for shed-pc to connect…').waitFor();
});

/** As the machine asks to be let in. */
async function askIn(name: string): Promise<{ readonly user_code: string }> {
  const response = await fetch(`${gateway.address}/agent/v1/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, host: 'shed' }),
  });
  return (await response.json()) as { readonly user_code: string };
}

test('a token that nobody has used is listed, and revoked', async () => {
  const page = await open('/providers', gateway.ben);
  await press(page, 'Add a GPU');
  await page.getByRole('textbox', { name: 'Name' }).fill('bens-pc');
  await press(page, 'Continue');
  await page.getByText('Waiting for the first command…').waitFor();
  await page.keyboard.press('Escape');
  await press(page, 'Revoke the token for bens-pc');
  await page.getByText('The join token is revoked.').waitFor();
  await page.getByText('bens-pc').waitFor({ state: 'detached' });
  const tokens = await gateway.admin('token.list', {});
  expect(tokens.find(({ name }) => name === 'bens-pc')?.state).toBe('revoked');
});

test('the list tells how each stands; its menu changes it', async () => {
  await machine('den-pc');
  await gateway.anna.enroll('new-pc');
  const page = await open('/providers', gateway.anna);
  const den = page.getByRole('row', { name: /den-pc/ });
  await den.getByText('Online', { exact: true }).waitFor();
  for (const part of ['2 × NVIDIA GeForce RTX 4090', '48.0 GiB', '61 °C', '0/8']) {
    await den.filter({ hasText: part }).waitFor();
  }
  await page
    .getByRole('row', { name: /new-pc/ })
    .getByText('never connected')
    .waitFor();
  await expectSound(page, 'providers-full');

  await choose(page, 'den-pc', 'Pause for others');
  await den.getByText('Paused', { exact: true }).waitFor();
  expect(await shown('den-pc')).toMatchObject({ paused: true });
  await choose(page, 'den-pc', 'Resume for others');
  await den.getByText('Online', { exact: true }).waitFor();
  await choose(page, 'den-pc', 'Drain');
  await den.getByText('Draining', { exact: true }).waitFor();
  expect(await shown('den-pc')).toMatchObject({ draining: true });
  await choose(page, 'den-pc', 'End draining');
  await den.getByText('Online', { exact: true }).waitFor();

  await choose(page, 'new-pc', 'Rename…');
  expectProblem(page, /409/);
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('den-pc');
  await press(page, 'Rename');
  await page.getByRole('alert').waitFor();
  await name.fill('hall-pc');
  await press(page, 'Rename');
  await page.getByRole('row', { name: /hall-pc/ }).waitFor();
  await choose(page, 'hall-pc', 'Remove…');
  await press(page, 'Remove hall-pc');
  await page.getByText('hall-pc is removed.').waitFor();
  await page.getByRole('link', { name: 'hall-pc' }).waitFor({ state: 'detached' });
  const left = await gateway.admin('provider.list', {});
  expect(left.some(({ name: one }) => one === 'hall-pc')).toBe(false);
});

test('one machine: what it is and serves, and what of it is shared', async () => {
  const id = await machine('loft-pc');
  const page = await open(`/providers/${id}`, gateway.anna);
  for (const text of ['linux x64', '0.9.1', 'gw-agent.v1', '570', id]) {
    await page.getByText(text, { exact: true }).waitFor();
  }
  const cooler = page.getByRole('table', { name: 'Graphics cards' }).getByRole('row').last();
  await cooler.filter({ hasText: '54 °C93 %20.0 GiB of 24.0 GiB310 W' }).waitFor();
  const tick = (what: string) =>
    page.getByRole('checkbox', { name: `Share ${what} of loft-pc with friends` });
  await tick('image-0').check();
  await page.getByText(/takes nobody else's work there/).waitFor();
  await press(page, 'Close the note');
  await tick('llama3.2:3b').check();
  await press(page, 'Limits of llama3.2:3b of loft-pc for friends');
  await page.getByRole('spinbutton', { name: 'Slots at once' }).fill('2');
  await page.getByRole('spinbutton', { name: 'Tokens of one answer' }).fill('4096');
  await page.getByLabel('Requests a day').fill('200');
  await page.getByLabel('Tokens a month').fill('1000000');
  await page.getByRole('checkbox', { name: 'Only at some hours of the day' }).check();
  await page.getByLabel('Time zone').fill('Mars/Olympus');
  expectProblem(page, /400/);
  await press(page, 'Save');
  await page.getByText(/is no time zone/).waitFor();
  await expectSoundNarrow(page, 'provider-limits');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await press(page, 'Save');
  const caps = '2 slots · 22:00-07:00 Europe/Berlin · 4,096 tokens';
  const left = '0 of 200 requests a day, 0 of 1,000,000 tokens a month';
  await page.getByText(`${caps} · ${left}`).waitFor();
  await press(page, 'Limits of llama3.2:3b of loft-pc for friends');
  await page.getByText('Used: 0').nth(7).waitFor();
  expect(await page.getByText('Used: 0').count()).toBe(8);
  await page.keyboard.press('Escape');
  const quota = { day: 'requests=200', month: 'tokens=1000000' };
  const hours = '22:00-07:00 Europe/Berlin';
  const limited = { slots: 2, max_tokens: 4096, hours, ...quota };
  expect((await shown('loft-pc')).shares).toMatchObject([
    { service_id: 'image-0', network: 'friends' },
    { model: 'llama3.2:3b', network: 'friends', ...limited },
  ]);
  await expectSound(page, 'provider-full');
  await tick('llama3.2:3b').uncheck();
  await tick('everything').check();
  // Whatever is part of it is ticked with it, and cannot be taken out of it.
  await until(async () => (await tick('qwen3:8b').isChecked()) && tick('qwen3:8b').isDisabled());
  expect((await shown('loft-pc')).shares).toHaveLength(2);
});

test('a person gets a column of their own; pause and removal are here as well', async () => {
  const id = await machine('roof-pc');
  await gateway.admin('network.add', { network: 'friends', member: gateway.ben.email });
  const page = await open(`/providers/${id}`, gateway.anna);
  await press(page, 'Share with one person');
  await page.getByRole('combobox', { name: 'Person' }).waitFor();
  await press(page, 'Add');
  await page.getByRole('checkbox', { name: 'Share everything of roof-pc with Ben' }).check();
  await page.getByText('Shared with Ben.').waitFor();
  expect((await shown('roof-pc')).shares).toMatchObject([{ member: 'Ben' }]);
  await press(page, 'Pause for others');
  await press(page, 'Resume for others');
  await page.getByText('roof-pc does the work of others again.').waitFor();
  // A question of the page may be on its way.
  expectProblem(page, /404.*\/my\/provider\.models/);
  await choose(page, 'roof-pc', 'Remove…');
  await press(page, 'Remove roof-pc');
  await page.waitForURL('**/providers');
  await page.getByRole('heading', { name: 'Providers', level: 1 }).waitFor();
  await page.goto(`/providers/${id}`);
  await page.getByText('You have no provider at this address.').waitFor();
  await expectSoundNarrow(page, 'provider-gone');
});

test('a new token takes the place of the old one as it is used', async () => {
  await gateway.anna.enroll('shed-pc');
  const { id } = await shown('shed-pc');
  const page = await open(`/providers/${id}`, gateway.anna);
  await choose(page, 'shed-pc', 'New token…');
  await press(page, 'Make a token');
  await page.getByText('Stop the agent on the machine').waitFor();
  await expectSoundNarrow(page, 'provider-token');
  const token = await runShown(page);
  await page.getByText('shed-pc has its new token. The old one has ended.').waitFor();
  await connectGpuMachine(gateway.address, token);
  expect(await shown('shed-pc')).toMatchObject({ id, online: true });
});

test('without an answer it says so, and comes back', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, '**/my/provider.list', 'Not now.');
  await page.goto('/providers');
  await page.getByText('Not now.').waitFor();
  await expectSoundNarrow(page, 'providers-error');
  await press(page, 'Try again');
  await page.getByRole('table', { name: 'Your providers' }).waitFor();
});
