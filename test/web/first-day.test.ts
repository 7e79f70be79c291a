/** From an empty gateway to the first call, as people do it: each step at the page. */
import { Agent } from '@inference-gateway/agent/agent';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import type { Coordinator } from '@inference-gateway/coordinator/coordinator';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { configuredServer } from '../support/configured-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { hasPython, runSnippet } from '../support/run-snippet.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await openBrowser({ address: 'about:blank' });
});

afterAll(() => browser.close());

async function startEmpty(): Promise<Coordinator> {
  const dataDir = await temporaryFolder();
  const config = { ...loadConfig({}, {}), port: 0, dataDir, logLevel: 'silent' } as const;
  const coordinator = await startCoordinator(config, { storeInThread: false });
  onTestFinished(() => coordinator.drain());
  return coordinator;
}

/** Of somebody who is not logged in yet. */
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

/** As the page itself would do it. */
async function command<T>(page: Page, path: string, args: object): Promise<T> {
  const url = `/api/console/v1/${path}`;
  return page.evaluate<T>(`fetch(${JSON.stringify(url)}, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: ${JSON.stringify(JSON.stringify(args))},
  }).then((response) => response.json())`);
}

async function recent(page: Page) {
  const args = encodeURIComponent(JSON.stringify({ limit: 10, after: null }));
  return page.evaluate<{ requests: readonly { key: string; model: string }[] }>(
    `fetch('/api/console/v1/my/usage.recent?args=${args}').then((response) => response.json())`,
  );
}

async function becomeAdmin(coordinator: Coordinator): Promise<Page> {
  const page = await stranger();
  // A visitor without the link is told where it is, and sees no form to log in.
  await page.goto('about:blank');
  await page.goto(`${coordinator.address}/jobs`);
  await page.getByRole('heading', { name: 'This gateway is not set up yet' }).waitFor();
  expect(await page.getByLabel('Password').count()).toBe(0);
  await expectSound(page, 'not-set-up');
  await page.getByRole('link', { name: 'I have the link' }).click();
  await page.getByRole('textbox', { name: 'Setup link' }).waitFor();
  await page.goto('about:blank');
  await page.goto(coordinator.setupLink ?? '');
  await page.getByText('You are the first member').waitFor();
  expect(page.url()).toBe(`${coordinator.address}/setup`);
  await expectSound(page, 'set-up');
  await page.setViewportSize({ width: 1440, height: 900 });
  const root = { Name: 'Ada', 'E-mail': 'ada@example.org', Password: 'one long enough for me' };
  await type(page, root);
  await press(page, 'Create the admin account');
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  await page.getByRole('link', { name: 'Admin' }).waitFor();
  return page;
}

async function invite(admin: Page, address: string): Promise<string> {
  const args = { email: 'bo@example.org', admin: false, network: null, expires_in_s: 3_600 };
  const { secret } = await command<{ secret: string }>(admin, 'admin/user.invite', args);
  return `${address}/join#${secret}`;
}

/** Where they log in from is not the browser's own matter: their agent has a token. */
async function startMachine(member: Page, coordinator: Coordinator): Promise<void> {
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  const args = { name: null, expires_in_s: 600, replace: null };
  const made = await command<{ token: string }>(member, 'my/token.create', args);
  const response = await fetch(`${coordinator.address}/agent/v1/enroll`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'den-pc' }),
  });
  const { token } = (await response.json()) as { token: string };
  const agent = new Agent({
    url: coordinator.address,
    token,
    name: 'den-pc',
    services: [configuredServer(fake.baseUrl, { id: 'llm-0', slots: 4 })],
    host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
    logger: createLogger('silent'),
    once: false,
    ffmpeg: null,
  });
  await agent.start();
  onTestFinished(() => agent.drain());
}

test('first admin, invite, member, key: the shown calls run as pasted and count', async () => {
  const coordinator = await startEmpty();
  const admin = await becomeAdmin(coordinator);
  const page = await stranger();
  await page.goto(await invite(admin, coordinator.address));
  await type(page, { Name: 'Bo', Password: 'another long one' });
  await press(page, 'Join');
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  await startMachine(page, coordinator);

  await page.getByRole('link', { name: 'Settings' }).click();
  await press(page, 'Create your first key');
  await page.getByRole('textbox', { name: 'Name' }).fill('laptop');
  await press(page, 'Create');
  await press(page, 'Test');
  await page.getByText('It works, and sees 1 model.').waitFor();
  let calls = 0;
  const isPythonHere = await hasPython('openai');
  for (const [language, label] of [
    ['curl', 'curl'],
    ['node', 'Node'],
    ['python', 'Python'],
  ] as const) {
    await page.getByText(label, { exact: true }).click();
    const text = await page.getByRole('group', { name: 'call', exact: true }).textContent();
    // No Python with OpenAI's client here: its text is looked at where snippets are.
    if (language === 'python' && !isPythonHere) continue;
    const { stdout } = await runSnippet(language, text ?? '');
    expect(stdout).toContain('Hello from the fake.');
    calls += 1;
    const seen = await until(
      async () => {
        const { requests } = await recent(page);
        return requests.length === calls ? requests : null;
      },
      { timeoutMs: 5_000, what: `the call by ${label} in the usage` },
    );
    expect(seen[0]).toMatchObject({ key: 'laptop', model: 'tiny' });
  }
});
