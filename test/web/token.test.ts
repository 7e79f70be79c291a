/** Settings, Token: the keys that a member's programs call with. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { givePassword, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

let gateway: TestGateway;
let browser: TestBrowser;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  browser = await openBrowser(gateway);
  fake = await startFakeOpenAi();
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await fake.close();
});

/** Who they are, at their keys. */
function atKeys(who: { readonly email: string }): Promise<Page> {
  return openPage({ gateway, browser }, who, '/settings/token');
}

/** A member without keys, providers or networks. */
async function newcomer(name: string): Promise<{ readonly email: string }> {
  const email = `${name}@example.org`;
  await gateway.admin('user.create', { email, name, admin: false, password: null });
  givePassword(gateway, email);
  return { email };
}

function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

function nameField(page: Page) {
  return page.getByRole('textbox', { name: 'Name' });
}

function row(page: Page, text: RegExp) {
  return page.getByRole('row', { name: text });
}

async function createKey(page: Page, name: string): Promise<string> {
  await press(page, 'Create key');
  await nameField(page).fill(name);
  await press(page, 'Create');
  return readKey(page);
}

/** The one that is shown now. */
async function readKey(page: Page): Promise<string> {
  const shown = page.getByRole('group', { name: 'key', exact: true });
  return (await shown.textContent()) ?? '';
}

async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByLabel(`Actions for ${name}`).click();
  await page.getByRole('button', { name: action }).click();
}

/** Whether the API lets somebody in with it. */
async function opens(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${gateway.baseUrl}/models`, { headers })).status;
}

test('a member without a key is led to their first one, which is shown once', async () => {
  const page = await atKeys(await newcomer('Nora'));
  await page.getByText('You have no key yet.').waitFor();
  await expectSound(page, 'token-empty');
  await press(page, 'Create your first key');
  await page.getByRole('dialog', { name: 'Create a key' }).waitFor();
  await expectSound(page, 'token-create');
  await nameField(page).fill('laptop');
  await press(page, 'Create');
  const key = await readKey(page);
  expect(key).toMatch(/^gwk_\w{20,}$/);
  expect(await opens(key)).toBe(200);
  await page.getByText('Replace your-model with the name of one').waitFor();
  await press(page, 'Test');
  await page.getByText('No model is online for it now.').waitFor();

  // A slip does not lose it.
  await page.keyboard.press('Escape');
  await page.getByText('Have you copied the key?').waitFor();
  expect(await readKey(page)).toBe(key);
  await page.keyboard.press('Escape');
  await row(page, /laptop/).waitFor();
  expect(await page.content()).not.toContain(key);
  await page.reload();
  await row(page, /laptop/).waitFor();
  expect(await page.content()).not.toContain(key);
});

test('what is shown is copied, tested with the key itself, and runs as pasted', async () => {
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const page = await atKeys(gateway.anna);
  const key = await createKey(page, 'notes app');
  await press(page, 'Copy the key');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await press(page, 'Test');
  await page.getByText('It works, and sees 1 model.').waitFor();
  await expectSound(page, 'token-shown');

  await press(page, 'Copy the call');
  const call = await until(async () => {
    const text = await page.evaluate<string>('navigator.clipboard.readText()');
    return text.startsWith('curl') ? text : null;
  });
  const { stdout } = await run('sh', ['-c', call]);
  expect(stdout).toContain('"chat.completion"');
  await press(page, 'Done');
  // Its use is written down within seconds, and the list follows.
  await row(page, /notes app.*active.*now/i).waitFor({ timeout: 10_000 });
});

test('a key may be bound to one’s own GPUs and to a time; its name is its own', async () => {
  const page = await atKeys(await newcomer('Rosa'));
  await press(page, 'Create key');
  await nameField(page).fill('cron');
  await page.getByLabel('Expires').selectOption('In 30 days');
  await page.getByLabel('Reaches').selectOption('Only my own GPUs');
  await page.getByText('never leaves your own machines').waitFor();
  await press(page, 'Create');
  await press(page, 'Done');
  await row(page, /cron.*own GPUs.*in (29|30) d/).waitFor();
  const [key] = await gateway.admin('key.list', { user: 'Rosa' });
  expect(key).toMatchObject({ name: 'cron', scope: 'own' });
  expect((key?.expires_at ?? 0) - (key?.created_at ?? 0)).toBe(30 * 86_400_000);

  expectProblem(page, /409.*key\.create/);
  await press(page, 'Create key');
  await nameField(page).fill('cron');
  await press(page, 'Create');
  await page.getByText("has a key 'cron' already").waitFor();
  expect(await gateway.admin('key.list', { user: 'Rosa' })).toHaveLength(1);
});

test('a key is renamed, disabled, enabled, rotated and revoked', async () => {
  const page = await atKeys(gateway.ben);
  await choose(page, 'test', 'Rename');
  await nameField(page).fill('jobActions');
  await press(page, 'Rename');
  await row(page, /jobActions.*active/i).waitFor();

  await choose(page, 'jobActions', 'Disable');
  await row(page, /jobActions.*disabled/i).waitFor();
  expect(await opens(gateway.ben.key)).toBe(401);
  await choose(page, 'jobActions', 'Enable');
  await row(page, /jobActions.*active/i).waitFor();
  expect(await opens(gateway.ben.key)).toBe(200);

  await choose(page, 'jobActions', 'Rotate');
  await page.getByLabel('The old secret ends').selectOption('In 1 hour');
  await press(page, 'Rotate');
  const second = await readKey(page);
  await press(page, 'Done');
  await row(page, /old one ends in/).waitFor();
  expect([await opens(gateway.ben.key), await opens(second)]).toEqual([200, 200]);

  await choose(page, 'jobActions', 'Rotate');
  await page.getByLabel('The old secret ends').selectOption('At once');
  await press(page, 'Rotate');
  const third = await readKey(page);
  await press(page, 'Done');
  expect([await opens(second), await opens(third)]).toEqual([401, 200]);

  await choose(page, 'jobActions', 'Revoke');
  await page.getByText('This cannot be taken back').waitFor();
  await press(page, 'Revoke jobActions');
  await page.getByText('You have no key yet.').waitFor();
  expect(await opens(third)).toBe(401);
  await page.getByText('Revoked', { exact: true }).click();
  await row(page, /jobActions.*revoked/i).waitFor();
  expect(new URL(page.url()).search).toBe('?state=revoked');
});

test('many keys are a table; a view without one leads back', async () => {
  const who = await newcomer('Wanda');
  const names = ['laptop', 'notes app', 'a key with a rather long name of its own'];
  for (const name of names) {
    await gateway.admin('key.create', { user: 'Wanda', name, scope: 'any', expires_in_s: 600_000 });
  }
  await gateway.admin('key.disable', { key: 'Wanda/laptop' });
  const page = await atKeys(who);
  await page.getByLabel('Actions for notes app').click();
  await page.getByRole('button', { name: 'Revoke…' }).waitFor();
  await expectSound(page, 'token-many');
  await page.keyboard.press('Escape');
  await page.getByText('Revoked', { exact: true }).click();
  await page.getByText('No keys match these filters.').waitFor();
  await expectAccessible(page);
  await press(page, 'Clear the filters');
  await row(page, /laptop.*disabled/i).waitFor();
});

test('keys that cannot be loaded say why, and are asked for again', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, '**/my/key.list*', 'The database is busy.');
  await page.goto('/settings/token');
  await page.getByText('The database is busy.').waitFor();
  await expectAccessible(page);
  await press(page, 'Try again');
  await row(page, /test/).waitFor();
});

test('by keyboard alone a key is made', async () => {
  const page = await atKeys(gateway.anna);
  await page.getByRole('button', { name: 'Create key' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create a key' }).waitFor();
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  const key = await readKey(page);
  expect(await opens(key)).toBe(200);
  await page.getByRole('button', { name: 'Done' }).focus();
  await page.keyboard.press('Enter');
  await row(page, /typed/).waitFor();
});

test('a key is created with its limits, which apply from its first call on', async () => {
  const page = await atKeys(await newcomer('Mira'));
  await press(page, 'Create your first key');
  await nameField(page).fill('n8n');
  const limits = page.getByRole('checkbox', { name: /^Only for some models or endpoints/ });
  const models = page.getByRole('textbox', { name: 'Models' });
  await limits.check();
  await models.fill('tiny,  qwen3:8b,');
  await page.getByRole('checkbox', { name: '/v1/chat/completions' }).check();
  await page.getByRole('checkbox', { name: '/v1/embeddings' }).check();
  await page.getByRole('checkbox', { name: '/v1/embeddings' }).uncheck();
  await page.getByLabel('Requests a day').fill('5');
  await page.getByLabel('Tokens a month').fill('-1');
  await press(page, 'Create');
  await until(() => page.evaluate<boolean>('document.querySelector(":invalid") !== null'));
  // In number fields of Firefox, Playwright writes behind what is there.
  await page.getByLabel('Tokens a month').clear();
  await page.getByLabel('Tokens a month').fill('100000');
  await expectSoundNarrow(page, 'token-create-limits');
  await press(page, 'Create');
  const key = await readKey(page);
  expect(await opens(key)).toBe(200);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const told =
    'only tiny, qwen3:8b; only /v1/chat/completions; 5 requests a day, 100,000 tokens a month';
  await page.getByText(told).waitFor();
  expect(await gateway.admin('key.show', { key: 'Mira/n8n' })).toMatchObject({
    models: ['tiny', 'qwen3:8b'],
    endpoints: ['/v1/chat/completions'],
    day: { requests: 5, tokens: null },
    month: { tokens: 100_000 },
  });

  // What was typed and is hidden again does not count.
  await press(page, 'Create key');
  await nameField(page).fill('free');
  await limits.check();
  await models.fill('tiny');
  await limits.uncheck();
  await press(page, 'Create');
  await readKey(page);
  expect(await gateway.admin('key.show', { key: 'Mira/free' })).toMatchObject({ models: null });
});

test('a key is restricted to models and limited, which its row shows, and freed', async () => {
  const who = await newcomer('Lena');
  const page = await atKeys(who);
  await press(page, 'Create your first key');
  await nameField(page).fill('n8n');
  await press(page, 'Create');
  const key = await readKey(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await choose(page, 'n8n', 'Limits…');
  await page.getByText('Used: 0').first().waitFor();
  await page.getByLabel('Models').fill('tiny, qwen3:8b');
  await page.getByLabel('Requests a day').fill('5');
  await page.getByLabel('Seconds of audio a month').fill('3600');
  await expectSound(page, 'token-limits');
  await press(page, 'Save');
  const told = 'only tiny, qwen3:8b; 5 requests a day, 3,600 seconds of audio a month';
  await page.getByText(told).waitFor();
  const shown = await gateway.admin('key.show', { key: 'Lena/n8n' });
  expect(shown).toMatchObject({ models: ['tiny', 'qwen3:8b'], day: { requests: 5, tokens: null } });
  expect(await opens(key)).toBe(200);
  await choose(page, 'n8n', 'Limits…');
  await page.getByLabel('Models').fill('');
  await page.getByLabel('Requests a day').fill('');
  await page.getByLabel('Seconds of audio a month').fill('');
  await press(page, 'Save');
  await page.getByText(told).waitFor({ state: 'detached' });
  expect(await gateway.admin('key.show', { key: 'Lena/n8n' })).toMatchObject({ models: null });
});
