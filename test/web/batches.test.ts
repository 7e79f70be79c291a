import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accepted, chatItem, getJson, submitBatch } from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { connect } from '../api/stock-clients.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer, reply } from '../support/fake-behaviours.js';
import type { Behaviour } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';

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

/** Refuses what says "bad", and answers the rest. */
const choosy: Behaviour = (request, response) =>
  request.text.includes('bad')
    ? reply(400, { error: { message: 'I do not say bad words.' } })(request, response)
    : answer({ text: 'Good.' })(request, response);

function saying(content: string): object {
  return chatItem({ messages: [{ role: 'user', content }] });
}

function open(path: string, who = gateway.anna): Promise<Page> {
  return openPage({ gateway, browser }, who, path);
}

function batchOf(page: Page): Promise<BatchBody> {
  return getJson(gateway, `/v1/batches/${new URL(page.url()).pathname.split('/')[2]}`);
}

test('without batches there is a snippet that submits one', async () => {
  const page = await open('/batches', gateway.ben);
  await page.getByText('No batches yet.').waitFor();
  expect(await page.locator('main pre').textContent()).toContain(`${gateway.baseUrl}/batches`);
  await expectSound(page, 'batches-empty');
});

test('lines that are pasted become a batch; a wrong one is named', async () => {
  served.fake.behave(choosy);
  const page = await open('/batches');
  await page.getByRole('button', { name: 'New batch' }).click();
  const lines = page.getByLabel('Requests');
  await lines.fill(`${JSON.stringify(saying('good'))}\n\n{"endpoint": 3}`);
  await page.getByText('Line 3: it has neither endpoint nor url.').waitFor();
  expect(await page.getByRole('button', { name: 'Queue', exact: true }).isDisabled()).toBe(true);
  await expectSound(page, 'batches-new');

  // Errors that only the coordinator can detect also name their line.
  expectProblem(page, /400/);
  const nameless = { endpoint: '/v1/chat/completions', body: { messages: [] } };
  await lines.fill(`${JSON.stringify(saying('good'))}\n\n${JSON.stringify(nameless)}`);
  await page.getByRole('button', { name: 'Queue 2 jobs' }).click();
  await page.getByText('Line 3 was refused; nothing was queued.').waitFor();

  const openAi = {
    custom_id: 'mine',
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'tiny', messages: [{ role: 'user', content: 'bad' }] },
  };
  await lines.fill(`${JSON.stringify(saying('good'))}\n${JSON.stringify(openAi)}`);
  await page.getByText('A custom_id is not kept').waitFor();
  await page.getByLabel('Label').fill('two words');
  await page.getByRole('button', { name: 'Queue 2 jobs' }).click();
  await page.getByRole('heading', { name: 'two words' }).waitFor();
  await page.getByTitle('DONE in the API').waitFor();
  expect(await batchOf(page)).toMatchObject({ label: 'two words', processed: 1, failed: 1 });
  await page.getByText('1 done').waitFor();
  await expectSound(page, 'batch-done');
});

test('the results come as a file of lines, and what failed is retried', async () => {
  served.fake.behave(choosy);
  const items = [saying('good'), saying('bad')];
  const { id } = await accepted<BatchBody>(await submitBatch(gateway, items, { label: 'three' }));
  const page = await open(`/batches/${id}`);
  await page.getByTitle('DONE in the API').waitFor();
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download results' }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe(`${id}.jsonl`);
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { index: 0, status: 'PROCESSED', result: { choices: [{ message: { content: 'Good.' } }] } },
    { index: 1, status: 'FAILED', result: null, error: { code: 'provider_rejected' } },
  ]);

  served.fake.behave(answer({ text: 'Well.' }));
  await page.getByRole('button', { name: 'Retry 1 failed' }).click();
  await page.getByRole('button', { name: 'Retry 1 job' }).click();
  await page.getByText('2 done').waitFor();
  expect(await batchOf(page)).toMatchObject({ processed: 2, failed: 0 });
  await page.getByRole('link', { name: 'All batches' }).click();
  await page.getByRole('link', { name: 'three' }).waitFor();
  await expectSound(page, 'batches-full');
  // A job names its batch, but not in the batch.
  await page.goto('/jobs?search=three');
  await page.getByText('tiny, three').nth(1).waitFor();
  await page.goto(`/batches/${id}`);
  await page.getByRole('link', { name: 'good' }).waitFor();
  expect(await page.getByText('tiny, three').count()).toBe(0);
});

test('a file of lines is read, and a batch is canceled after a question', async () => {
  await gateway.admin('queue.pause', {});
  const page = await open('/batches');
  const file = join(gateway.dataDir, 'many.jsonl');
  await writeFile(file, `${JSON.stringify(saying('good'))}\n`.repeat(40));
  await page.getByRole('button', { name: 'New batch' }).click();
  await page.getByLabel('Or from a file').setInputFiles(file);
  await page.getByRole('button', { name: 'Queue 40 jobs' }).click();
  await page.getByText('40 queued').waitFor();
  await shoot(page, 'batch-queued');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel 40 jobs' }).click();
  await page.getByText('40 canceled', { exact: true }).waitFor();
  expect(await batchOf(page)).toMatchObject({ status: 'DONE', canceled: 40 });
  await page.getByRole('button', { name: 'Retry 40 canceled' }).click();
  await page.getByRole('button', { name: 'Retry 40 jobs' }).click();
  await until(async () => (await batchOf(page)).queued === 40);
  await gateway.admin('queue.resume', {});
});

test('a batch of a file shows its progress, its answers and its errors', async () => {
  served.fake.behave(choosy);
  const url = '/v1/chat/completions';
  const lines = ['good', 'bad', 'good'].map((content, i) => {
    const body = { model: 'tiny', messages: [{ role: 'user', content }] };
    return JSON.stringify({ custom_id: `line-${i}`, method: 'POST', url, body });
  });
  const client = connect(OpenAI, gateway);
  const content = await toFile(Buffer.from(lines.join('\n')), 'night.jsonl');
  const file = await client.files.create({ file: content, purpose: 'batch' });
  const { id } = await client.batches.create({
    input_file_id: file.id,
    endpoint: url,
    completion_window: '24h',
    metadata: { run: 'nightly' },
  });
  const page = await open('/batches');
  await page.getByRole('link', { name: id }).click();
  await page.getByTitle('COMPLETED in the API').waitFor();
  await page.getByText('2 done').waitFor();
  await page.getByText('nightly').waitFor();
  await expectSound(page, 'batch-of-a-file');
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Answers' }).click();
  const answers = (await readFile(await (await coming).path(), 'utf8')).trimEnd().split('\n');
  expect(answers.map((line) => JSON.parse(line) as object)).toMatchObject([
    { custom_id: 'line-0' },
    { custom_id: 'line-2' },
  ]);
  const failing = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Errors' }).click();
  expect(await readFile(await (await failing).path(), 'utf8')).toContain('"custom_id":"line-1"');
  await page.getByRole('link', { name: 'All batches' }).click();
  await page.getByText('3 of 3').first().waitFor();
  await shoot(page, 'batches-both');
});

test('a batch that is not there, and a list that cannot be loaded, say so', async () => {
  const page = await browser.newPage();
  expectProblem(page, /404/);
  await logIn(page, gateway, gateway.anna);
  await page.goto('/batches/01ARZ3NDEKTSV4RRFFQ69G5FAV');
  await page.getByText('There is no batch 01ARZ3NDEKTSV4RRFFQ69G5FAV of yours.').waitFor();
  await expectAccessible(page);
  await refuseUntilRetry(page, /\/v1\/batches\?/, 'The database is full.');
  await page.getByRole('link', { name: 'All batches' }).click();
  await page.getByText('The database is full.').waitFor();
  await expectAccessible(page);
});
