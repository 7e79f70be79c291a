/** Docs: how to begin, every endpoint, and every error. */
import { ERRORS } from '@inference-gateway/shared/errors';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { runSnippet } from '../support/run-snippet.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';

let served: ServedGateway;
let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  served = await openServedGateway();
  ({ gateway } = served);
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
});

function open(path: string, who = gateway.anna): Promise<Page> {
  return openPage({ gateway, browser }, who, path);
}

function snippet(page: Page) {
  return page.getByRole('group', { name: 'call', exact: true });
}

test('the quick start has one’s own address and a model, and runs as pasted', async () => {
  const page = await open('/docs');
  await page.getByText(gateway.baseUrl, { exact: true }).waitFor();
  await snippet(page).filter({ hasText: '"tiny"' }).waitFor();
  await expectSound(page, 'docs-quick-start');
  const text = (await snippet(page).textContent()) ?? '';
  const { stdout } = await runSnippet('curl', text, { env: { GATEWAY_KEY: gateway.anna.key } });
  expect(stdout).toContain('"chat.completion"');

  await page.getByRole('radio', { name: 'Python' }).check({ force: true });
  await page.getByRole('radio', { name: 'Stream' }).check({ force: true });
  await snippet(page).filter({ hasText: 'stream=True' }).waitFor();
  expect(new URL(page.url()).search).toBe('?in=python&call=stream');
  await page.reload();
  await snippet(page).filter({ hasText: 'stream=True' }).waitFor();
  // Nobody reads aloud here.
  await page.getByRole('radio', { name: 'Speech' }).check({ force: true });
  await page.getByText('Replace your-model with the name of one.').waitFor();
});

test('endpoints are folded, searched, and tell their fields and answers', async () => {
  const page = await open('/docs');
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click();
  await page.getByRole('heading', { name: 'Inference', exact: true }).waitFor();
  expect(await page.locator('table').count()).toBe(0);
  await expectSound(page, 'docs-endpoints');
  await page.getByLabel('Search endpoints').fill('answer conversation');
  await page.getByText('/v1/models', { exact: true }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?q=answer+conversation');
  // A summary is opened by the keyboard as well.
  await page.locator('#createChatCompletion > summary').focus();
  await page.keyboard.press('Enter');
  const body = page.getByRole('table', { name: 'Body: application/json' });
  await body.getByRole('row', { name: /messages required array of object/ }).waitFor();
  await body.getByRole('row', { name: /temperature number 0 to 2\. Default 0\.7\./ }).waitFor();
  await page.getByText('error.code is rate_limit_exceeded, quota_exceeded, queue_full.').waitFor();
  await page.getByText('Fields of application/json').first().click();
  await page.getByRole('table', { name: 'Answer: application/json' }).first().waitFor();
  await expectSound(page, 'docs-endpoint');
  await page.getByLabel('Search endpoints').fill('no such thing');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByText('/v1/models', { exact: true }).waitFor();
});

test('an endpoint opens by its address, and the raw document is a link beside', async () => {
  const page = await open('/docs/endpoints#createBatch');
  await page.locator('#createBatch').getByText('requests', { exact: true }).first().waitFor();
  const link = page.getByRole('link', { name: 'OpenAPI document' });
  const [raw] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  await raw.waitForLoadState();
  expect(new URL(raw.url()).pathname).toBe('/openapi.json');
});

test('every error is there with what to do, and is found by a word', async () => {
  const page = await open('/docs/errors');
  const rows = page.getByRole('table', { name: 'Errors' }).locator('tbody tr');
  const errors = Object.keys(ERRORS).length;
  await rows.nth(errors - 1).waitFor();
  expect(await rows.count()).toBe(errors);
  await expectSound(page, 'docs-errors');
  await page.getByLabel('Search errors').fill('queue_full');
  await rows.nth(1).waitFor({ state: 'detached' });
  await page.getByText('Wait until some have run.').waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByLabel('Search errors').fill('no such error');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await rows.nth(5).waitFor();
});

test('without the document it says why, and tries again', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.ben);
  await refuseUntilRetry(page, '**/openapi.json', 'The coordinator is being restarted.');
  await page.goto('/docs/endpoints');
  await page.getByText('The coordinator is being restarted.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('/v1/models', { exact: true }).waitFor();
  await page.goto('/docs/nowhere');
  await page.getByRole('link', { name: 'Go to the quick start' }).click();
  await page.getByText('Make a key').waitFor();
});
