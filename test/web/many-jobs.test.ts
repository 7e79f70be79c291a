import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accepted, chatItem, listJobs, submitBatch } from '../api/job-calls.js';
import type { JobBody, ListBody } from '../api/job-calls.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { shoot } from '../support/page-checks.js';
import { logIn } from '../support/page-session.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';

const BATCHES = 40;
const JOBS_EACH = 250;

let gateway: TestGateway;
let fake: FakeModelServer;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  await gateway.admin('queue.pause', {});
  const items = Array.from({ length: JOBS_EACH }, () => chatItem());
  for (let i = 0; i < BATCHES; i++) await accepted(await submitBatch(gateway, items));
  browser = await openBrowser(gateway);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await fake.close();
});

async function open(path: string): Promise<Page> {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.goto(path);
  return page;
}

const callPlainly = async () => (await gateway.fetch('/v1/models')).text();

/** Measured: 12 for a hundred jobs, of which most is their JSON; 0.7 ms for the plain call. */
const MOST = 40;
const TURNS = 8;
/** On a busy machine it takes more of them until nothing else runs during one. */
const MOST_TURNS = 64;

/** How much longer it takes than a call without a list, both at their quickest, in turn. */
async function timesAPlainCall(action: () => Promise<unknown>): Promise<number> {
  let [listMs, plainMs] = [Infinity, Infinity];
  for (let i = 0; i < TURNS || (i < MOST_TURNS && listMs / plainMs >= MOST); i++) {
    listMs = Math.min(listMs, await msOf(action));
    plainMs = Math.min(plainMs, await msOf(callPlainly));
  }
  return listMs / plainMs;
}

async function msOf(action: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await action();
  return performance.now() - startedAt;
}

test.each([
  '/v1/jobs?limit=100',
  '/v1/jobs?limit=50&active=1',
  '/v1/jobs?limit=100&status=FAILED',
  // Nothing fits, so that every one is looked at.
  '/v1/jobs?limit=100&model=nothing-has-it',
  '/v1/jobs?limit=100&type=IMAGE',
  '/v1/jobs?limit=100&active=1&type=LLM&model=nothing-has-it',
  '/v1/batches?limit=50',
  '/api/inference/queue/summary',
])('of 10,000 jobs %s is answered like a page of them', async (path) => {
  const answer = async () => (await gateway.fetch(path)).text();
  expect(await timesAPlainCall(answer)).toBeLessThan(MOST);
});

test('the last page comes as quickly as the first', async () => {
  const { data } = await listJobs(gateway, '?limit=500');
  const after = data.at(-1)?.id ?? '';
  const answer = () => listJobs(gateway, `?limit=100&after=${after}`);
  expect(await timesAPlainCall(answer)).toBeLessThan(MOST);
});

/** Measured: 1.1 to 1.6 for the list, 2.3 to 4.6 for a choice among nine hundred rows. */
const MOST_OF_FEW = 10;

test('10,000 jobs open like 40 batches, and a choice never draws all rows again', async () => {
  let [jobsMs, batchesMs] = [Infinity, Infinity];
  for (let i = 0; i < 2 || (i < TURNS && jobsMs / batchesMs >= MOST_OF_FEW); i++) {
    batchesMs = Math.min(batchesMs, await msToOpen('Batches', await open('/jobs')));
    jobsMs = Math.min(jobsMs, await msToOpen('Jobs', await open('/batches')));
  }
  expect(jobsMs / batchesMs).toBeLessThan(MOST_OF_FEW);

  const page = await open('/jobs');
  const rows = rowsOf('Jobs', page);
  await rows.first().waitFor();
  expect(await rows.count()).toBe(100);
  const fewMs = await msToChoose(page);
  for (let shown = 200; shown <= 900; shown += 100) {
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows.nth(shown - 1).waitFor();
  }
  await page.getByText('The newest 900 are shown.').waitFor();
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  expect((await msToChoose(page)) / fewMs).toBeLessThan(MOST_OF_FEW);
});

/** From the click to the first row, on a page that has not been there. */
async function msToOpen(name: string, page: Page): Promise<number> {
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  const ms = await msOf(async () => {
    await page.getByRole('link', { name, exact: true }).first().click();
    await rowsOf(name, page).first().waitFor();
  });
  await page.close();
  return ms;
}

/** From the click on the first row's box to the second frame after it, at its quickest. */
async function msToChoose(page: Page): Promise<number> {
  const ms = await page.evaluate<number>(`(async () => {
    let least = Infinity;
    for (let i = 0; i < ${TURNS}; i++) {
      const startedAt = performance.now();
      document.querySelector('tbody input').click();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      least = Math.min(least, performance.now() - startedAt);
    }
    document.querySelector('tbody input').click();
    return least;
  })()`);
  await page.getByText('1 job selected').waitFor();
  await page.locator('tbody input').first().click();
  return ms;
}

function rowsOf(name: string, page: Page) {
  return page.getByRole('region', { name, exact: true }).locator('tbody tr');
}

test('the queue draws ten thousand jobs as their batches, and cancels them all', async () => {
  const page = await open('/queue');
  await page.getByText('10,000', { exact: true }).first().waitFor();
  const mine = page.getByRole('region', { name: 'Your jobs' });
  await mine.getByText(`10,000 jobs in ${BATCHES} groups`).waitFor();
  expect(await mine.getByRole('listitem').count()).toBe(BATCHES);
  expect(await mine.locator('tbody tr').count()).toBe(0);
  await shoot(page, 'queue-10000');

  const first = mine.getByRole('listitem').first();
  await first.getByRole('button', { name: /^Jobs of tiny/ }).click();
  await first.locator('tbody tr').nth(49).waitFor();
  expect(await first.locator('tbody tr').count()).toBe(50);
  await mine.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByRole('button', { name: 'Cancel 10,000 jobs' }).click();
  await page.getByText('Canceled: 10,000 jobs.').waitFor({ timeout: 60_000 });
  await page.getByText('Nothing queued.').waitFor();

  // One more than a request searches.
  await accepted(await submitBatch(gateway, [chatItem()]));
  const query = '?search=nothing-has-it';
  const part = (await listJobs(gateway, query)) as ListBody<JobBody> & { next_after: string };
  expect(part).toMatchObject({ data: [], has_more: true });
  const rest = await listJobs(gateway, `${query}&after=${part.next_after}`);
  expect(rest).toEqual({ object: 'list', data: [], has_more: false });
  await page.goto(`/jobs${query}`);
  await page.getByText('No jobs searched so far match these filters.').waitFor();
  await page.getByText('0 jobs among those searched so far').waitFor();
  await shoot(page, 'jobs-searched-in-part');
  await page.getByRole('button', { name: 'Search further back' }).click();
  await page.getByText('No jobs match these filters.').waitFor();
}, 90_000);

test('a file has all ten thousand that fit the filter; the table shows a hundred', async () => {
  const page = await open('/jobs?status=CANCELED');
  await rowsOf('Jobs', page).first().waitFor();
  const files: string[] = [];
  page.on('download', (file) => files.push(file.suggestedFilename()));
  const progress = page.getByText(/^[\d,]+ rows read$/);
  await page.getByRole('button', { name: 'CSV' }).click();
  await progress.waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await progress.waitFor({ state: 'detached' });

  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'JSON' }).click();
  await progress.waitFor();
  await shoot(page, 'jobs-saving');
  const rows = JSON.parse(await readFile(await (await saving).path(), 'utf8')) as { id: string }[];
  expect(rows).toHaveLength(BATCHES * JOBS_EACH);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(files).toEqual(['jobs.json']);
}, 90_000);
