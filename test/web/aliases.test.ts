/** Aliases: a member's own in Settings, all of them in Admin, and the rows of Models. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choose, confirm, press, rowOf } from '../support/admin-page.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { addAdmin, openPage } from '../support/page-session.js';
import type { WithPassword } from '../support/page-session.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let browser: TestBrowser;
let fake: FakeModelServer;
let admin: WithPassword;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi({ models: ['big', 'small'] });
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  browser = await openBrowser(gateway);
  admin = await addAdmin(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await fake.close();
});

const open = (path: string, who: { readonly email: string } = gateway.anna): Promise<Page> =>
  openPage({ gateway, browser }, who, path);

const aliases = async () =>
  (await gateway.admin('alias.list', { user: null })).map(({ name, owner, models }) =>
    [owner ?? 'all', name, ...models].join(' '),
  );

test('a member makes, changes and removes their aliases, and sees the gateway’s', async () => {
  const page = await open('/settings/aliases');
  await page.getByText('You have no alias.').waitFor();
  await expectSound(page, 'aliases-none');
  await press(page, 'Create alias');
  await page.getByLabel('Name').fill('claude-*');
  await page.getByLabel('Models', { exact: true }).fill('big, gone');
  await expectSound(page, 'alias-new');
  await press(page, 'Create');
  await page.getByText('stands for big, gone. No provider that its owner may use').waitFor();
  await rowOf(page, /claude-\* .*big, then gone.*yours/).waitFor();
  expect(await aliases()).toEqual(['Anna claude-* big gone']);

  await gateway.admin('alias.set', { name: 'fast', models: ['nowhere', 'small'], user: null });
  await page.reload();
  const ofGateway = rowOf(page, /fast small the gateway/);
  await ofGateway.waitFor();
  expect(await ofGateway.getByRole('button').count()).toBe(0);
  await expectSound(page, 'aliases');

  await choose(page, 'claude-*', 'Change…');
  await page.getByLabel('Models', { exact: true }).fill('small');
  await press(page, 'Save');
  await rowOf(page, /claude-\* small/).waitFor();
  await confirm(page, 'claude-*', 'Remove');
  await rowOf(page, /claude/).waitFor({ state: 'detached' });
  expect(await aliases()).toEqual(['all fast nowhere small']);
});

test('what cannot be an alias is said beside the fields', async () => {
  const page = await open('/settings/aliases');
  expectProblem(page, /400/);
  await press(page, 'Create alias');
  await page.getByLabel('Name').fill('a*b');
  await page.getByLabel('Models', { exact: true }).fill('big');
  await press(page, 'Create');
  await page.getByRole('alert').getByText("has a '*' before its end").waitFor();
});

test('the models page has a row for an alias, with the figures of its first model', async () => {
  await gateway.admin('alias.set', {
    name: 'fast',
    models: ['nowhere', 'small', 'big'],
    user: null,
  });
  const page = await open('/models');
  const row = rowOf(page, /fast .*alias of small, then big/);
  await row.filter({ hasText: '4 of 4' }).waitFor();
  await expectSound(page, 'models-alias');
  await page.goto('/playground/chat?model=fast');
  const model = page.getByLabel('Model', { exact: true });
  await until(async () => (await model.inputValue()) === 'fast');
});

test('an admin makes, changes and removes aliases for all and for one member', async () => {
  const page = await open('/admin/aliases', admin);
  await rowOf(page, /fast nowhere, then small, then big all members/).waitFor();
  await press(page, 'Create alias');
  await page.getByLabel('Name').fill('gpt-*');
  await page.getByLabel('Models', { exact: true }).fill('small');
  await page.getByLabel('For', { exact: true }).selectOption({ label: 'Ben alone' });
  await expectSound(page, 'admin-alias-new');
  await press(page, 'Create');
  await rowOf(page, /gpt-\* small Ben alone/).waitFor();
  await expectSound(page, 'admin-aliases');
  await choose(page, 'fast', 'Change…');
  await page.getByLabel('Models', { exact: true }).fill('big');
  await press(page, 'Save');
  await rowOf(page, /fast big all members/).waitFor();
  await confirm(page, 'Ben/gpt-*', 'Remove');
  await rowOf(page, /gpt/).waitFor({ state: 'detached' });
  expect(await aliases()).toEqual(['all fast big']);
});
