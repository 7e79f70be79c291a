/** Usage: what one has used and given, in figures, in a chart, and in a file. */
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERROR_ADVICE } from '../../packages/coordinator/web/src/screens/docs/error-advice.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

/** A model may be called anything, and a spreadsheet would run this. */
const FORMULA = '=HYPERLINK("http://x","tiny")';

let gateway: TestGateway;
let browser: TestBrowser;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ breakerOpenMs: 0 });
  fake = await startFakeOpenAi({ models: ['tiny', FORMULA] });
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await fake.close();
});

function open(path: string, who = gateway.anna): Promise<Page> {
  return openPage({ gateway, browser }, who, path);
}

async function call(model = 'tiny'): Promise<void> {
  const before = usageRows(gateway).length;
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  await gateway.client.chat.completions.create({ model, messages: [...messages] }).catch(() => {});
  await until(() => usageRows(gateway).length > before);
}

/** As if its agent had told so many joules. */
function spend(joules: number, id: string): void {
  const database = openDatabase(join(gateway.dataDir, DATABASE_FILE));
  database.prepare('update usage set energy_j = ? where request_id = ?').run(joules, id);
  database.close();
}

function drawn(page: Page): Promise<string> {
  return page.evaluate<string>('document.querySelector(".usage-chart canvas").toDataURL()');
}

function table(page: Page, name: string) {
  return page.getByRole('table', { name });
}

test('a member who has called nothing finds a first call', async () => {
  const page = await open('/usage', gateway.ben);
  await page.getByText('No calls in this time.').waitFor();
  const snippet = await page.locator('main pre').textContent();
  expect(snippet).toContain(`${gateway.baseUrl}/chat/completions`);
  await expectSound(page, 'usage-empty');
  await page.getByRole('radio', { name: 'Given' }).check({ force: true });
  await page.getByText('Your providers have answered nothing in this time.').waitFor();
  expect(new URL(page.url()).search).toBe('?side=given');
});

test('a new call is in the latest requests within five seconds', async () => {
  await call();
  const page = await open('/usage');
  const rows = table(page, 'Latest requests').locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(1);
  await call();
  await until(async () => (await rows.count()) === 2, { timeoutMs: 5_000 });
  fake.behave(reply(400, { error: { message: 'No.' } }));
  await call();
  await rows.filter({ hasText: 'provider_rejected' }).waitFor({ timeout: 5_000 });
});

test('a request has a page of its own: when what happened, where, and what failed', async () => {
  const page = await open('/usage');
  const rows = table(page, 'Latest requests').locator('tbody tr');
  await rows.filter({ hasText: 'provider_rejected' }).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: /tiny/ }).waitFor();
  await page.getByText('Change what the message names.').waitFor();
  const moments = page.locator('.timeline li');
  expect(await moments.locator('strong').allTextContents()).toEqual([
    'Received',
    'Sent to a provider',
    'First byte',
    'Failed',
  ]);
  await expectSound(page, 'request-failed');
  await page.getByRole('link', { name: 'Usage', exact: true }).last().click();
  await rows.nth(1).getByRole('link').click();
  await moments.filter({ hasText: 'First byte' }).waitFor();
  await moments.filter({ hasText: /to Anna\/den-pc, after \d+ ms in the queue/ }).waitFor();
  const facts = page.locator('.facts');
  await facts.getByText('/v1/chat/completions').waitFor();
  await facts.getByText(/^\d+ in, \d+ out$/).waitFor();
  await expectSound(page, 'request');
  expect(await facts.getByRole('link', { name: 'Anna/den-pc' }).getAttribute('href')).toMatch(
    /^\/providers\/\w+$/,
  );
  const id = new URL(page.url()).pathname.split('/')[2] ?? '';
  expect(usageRows(gateway).map(({ requestId }) => requestId)).toContain(id);
  // Its agent has no card.
  expect(await facts.getByText('Energy').count()).toBe(0);
  spend(4_300, id);
  await page.reload();
  await facts.getByText('Energy', { exact: true }).waitFor();
  const energy = /^1\.2 Wh \(4,300 J\), share of the card’s power while it ran$/;
  await facts.locator('dd').filter({ hasText: energy }).waitFor();
  await expectSound(page, 'request-energy');

  const other = await browser.newPage();
  await logIn(other, gateway, gateway.ben);
  expectProblem(other, /404.*usage\.request/);
  await other.goto(page.url());
  await other.getByText(`There is no request ${id} of yours.`).waitFor();
  await expectSound(other, 'request-gone');
});

test('tokens that were estimated are marked, for the eye and for the ear', async () => {
  // A server that reports no usage.
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello there.' } }];
  fake.behave(reply(200, { id: 'x', created: 1, choices }));
  await call();
  fake.behave(answer({ text: 'Hello.' }));
  await call();
  const page = await open('/usage');
  const rows = table(page, 'Latest requests').locator('tbody tr');
  const estimated = rows.nth(1).getByTitle(/^Estimated: the model server reported no count/);
  await estimated.first().waitFor();
  expect(await estimated.first().textContent()).toMatch(/^estimated ~\d+ tokens$/);
  expect(await rows.nth(0).textContent()).not.toContain('estimated');
  expect(await rows.nth(0).textContent()).not.toContain('~');
  await expectSound(page, 'usage-estimated');
});

test('figures, sentence and table say the same, and the chart follows the theme', async () => {
  fake.behave(answer({ text: 'Hello.' }));
  await call(FORMULA);
  const page = await open('/usage');
  await page.getByText(/^6 requests in 7 days, .*; tiny has 83 %\./).waitFor();
  await table(page, 'By model')
    .getByRole('row', { name: /^tiny 5 1/ })
    .waitFor();
  await page.locator('.tile', { hasText: /Requests\s*6/ }).waitFor();
  await page.locator('.tile', { hasText: /Errors\s*1/ }).waitFor();
  await page.locator('.usage-chart canvas').waitFor();
  await expectSound(page, 'usage');

  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1440, height: 900 });
  const light = await drawn(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await until(async () => (await drawn(page)) !== light);
  await page.getByLabel('Measure').selectOption('Tokens');
  await page.getByText(/tokens in 7 days/).waitFor();
});

test('the arrow keys and the pointer read the chart, and its legend hides a model', async () => {
  const page = await open('/usage?period=day');
  const chart = page.getByRole('group', { name: /^6 requests in 24 hours/ });
  await chart.locator('canvas').waitFor();
  await chart.focus();
  const told = page.locator('.usage-plot').getByRole('status');
  await page.keyboard.press('End');
  // The calls may have been made in two hours.
  const newest = (await told.textContent()) ?? '';
  expect(newest).toMatch(/^.*:00, \d requests?/);
  await page.keyboard.press('ArrowLeft');
  await until(async () => (await told.textContent()) !== newest);
  await page.keyboard.press('ArrowRight');
  await until(async () => (await told.textContent()) === newest);
  const tip = page.locator('.usage-tip');
  await tip.filter({ hasText: 'request' }).waitFor();
  await shoot(page, 'usage-tooltip');
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'detached' });

  const { width = 0 } = (await chart.boundingBox()) ?? {};
  await chart.hover({ position: { x: width - 40, y: 100 } });
  await tip.filter({ hasText: newest.slice(0, newest.indexOf(',')) }).waitFor();
  const whole = await drawn(page);
  const toggle = page.getByRole('button', { name: 'tiny', exact: true });
  await toggle.click();
  expect(await toggle.getAttribute('aria-pressed')).toBe('false');
  await until(async () => (await drawn(page)) !== whole);

  await page.getByText('Values as a table').click();
  const rows = table(page, 'Values of the chart').locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(24);
  expect(await rows.first().textContent()).toMatch(/:00\d requests?/);
  await expectAccessible(page);
});

test('durations and speeds are of all models or of one', async () => {
  const page = await open('/usage?period=day');
  await page.getByLabel('Measure').selectOption('First token, p50 and p95');
  await page.getByText(/^Time from a request to the first part of its answer/).waitFor();
  await page.locator('.usage-chart canvas').waitFor();
  await page.getByRole('button', { name: 'Median (p50)' }).waitFor();
  await expectSound(page, 'usage-first-token');
  await page.getByLabel('Model', { exact: true }).selectOption('tiny');
  await page.getByRole('button', { name: '95 % are faster (p95)' }).waitFor();
  expect(new URL(page.url()).search).toBe('?period=day&measure=first&model=tiny');
  await page.getByLabel('Measure').selectOption('Tokens per second');
  await page.getByRole('button', { name: 'Tokens per second' }).waitFor();
  await page.getByRole('radio', { name: '12 mo' }).check({ force: true });
  await page.getByText(/in 12 months\./).waitFor();
  await page.getByLabel('Measure').selectOption('Images');
  await page.getByText('No images in these 12 months.').waitFor();
});

test('filters are in the address, also when it is opened anew', async () => {
  const page = await open('/usage?period=month&by=key');
  await table(page, 'By key')
    .getByRole('row', { name: /anna@example\.org\/test 6|test 6/ })
    .waitFor();
  await page.getByText(/in 30 days/).waitFor();
  await page.getByRole('radio', { name: '24 h', exact: true }).check({ force: true });
  await page.getByLabel('By', { exact: true }).selectOption('Source');
  await table(page, 'By source').waitFor();
  expect(new URL(page.url()).search).toBe('?period=day&by=source');
  await page.getByRole('radio', { name: 'Given' }).check({ force: true });
  await page.getByLabel('By', { exact: true }).selectOption('Member');
  await table(page, 'By member')
    .getByRole('row', { name: /^Anna 6/ })
    .waitFor();
  await page.goto('/usage?period=aeon&by=nothing&measure=x');
  await table(page, 'By model').waitFor();
});

test('the file has the table’s numbers, and no formula', async () => {
  const page = await open('/usage?period=month');
  await table(page, 'By model').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).first().click(),
  ]);
  expect(download.suggestedFilename()).toBe('usage-received-month-by-model.csv');
  const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
  expect(lines[0]).toMatch(/^name,requests,ok,failed,canceled,prompt_tokens,/);
  expect(lines[1]).toMatch(/^tiny,5,4,1,0,/);
  expect(lines[2]).toMatch(/^"'=HYPERLINK\(""http:\/\/x"",""tiny""\)",1,1,0,0,/);
});

test('the file of the latest requests says what an error means', async () => {
  const page = await open('/usage');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.usage-recent').getByRole('button', { name: 'JSON' }).click(),
  ]);
  const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as object[];
  expect(saved).toHaveLength(6);
  const { provider_rejected: rejected } = ERROR_ADVICE;
  const error = { error_code: 'provider_rejected', error_meaning: rejected.meaning };
  expect(saved).toContainEqual(expect.objectContaining(error));
  expect(saved).toContainEqual(expect.objectContaining({ error_code: null, error_meaning: null }));
});

test('without an answer it says why', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, /stats\.show/, 'The coordinator is being restarted.');
  await page.goto('/usage');
  await page.getByText('The coordinator is being restarted.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await table(page, 'By model').waitFor();

  const other = await open('/settings');
  await refuseUntilRetry(other, /usage\.series/, 'The chart is not there.');
  await other.goto('/usage');
  const chart = other.locator('section', { hasText: 'Over time' });
  await chart.getByText('The chart is not there.').waitFor();
  await chart.getByRole('button', { name: 'Try again' }).click();
  await chart.locator('canvas').waitFor();
});
