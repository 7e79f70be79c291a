import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ended, getJob, pauseQueue, submitted } from '../api/job-calls.js';
import type { JobBody } from '../api/job-calls.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer, reply } from '../support/fake-behaviours.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectNoSideways, expectSound, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

const REFUSAL = { error: { message: 'The prompt holds a word that I do not like.' } };

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

async function processed(text: string): Promise<JobBody> {
  served.fake.behave(answer({ text }));
  return ended(gateway, (await submitted(gateway)).id);
}

async function failed(): Promise<JobBody> {
  served.fake.behave(reply(400, REFUSAL));
  return ended(gateway, (await submitted(gateway)).id);
}

test('without jobs there is a snippet that submits one', async () => {
  const page = await open('/jobs', gateway.ben);
  await page.getByText('No jobs yet.').waitFor();
  const snippet = await page.locator('main pre').textContent();
  expect(snippet).toContain(`${gateway.baseUrl}/chat/completions`);
  expect(snippet).toContain('"async": true');
  await expectSound(page, 'jobs-empty');
});

test('lists jobs and keeps its filters in the address', async () => {
  const done = await processed('All is well.');
  const broken = await failed();
  const page = await open('/jobs');
  const table = page.getByRole('region', { name: 'Jobs' });
  await table.getByText('Done').first().waitFor();
  await table.getByText('a word that I do not like').first().waitFor();
  await expectSound(page, 'jobs-full');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'JSON' }).click();
  const saved = JSON.parse(await readFile(await (await saving).path(), 'utf8')) as { id: string }[];
  expect(saved.map(({ id }) => id)).toContain(done.id);

  await page.getByLabel('Status').selectOption('FAILED');
  await linkTo(page, done).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?status=FAILED');
  await page.getByLabel('Status').selectOption('active');
  await page.getByText('No jobs match these filters.').waitFor();
  expect(new URL(page.url()).search).toBe('?active=1');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await linkTo(page, done).waitFor();

  await page.getByLabel('Type').selectOption('IMAGE');
  await page.getByText('No jobs match these filters.').waitFor();
  expect(new URL(page.url()).search).toBe('?type=IMAGE');
  await page.getByLabel('Type').selectOption('LLM');
  await page.getByLabel('Model').fill('TIN');
  await linkTo(page, broken).waitFor();
  await page.reload();
  expect(await page.getByLabel('Model').inputValue()).toBe('TIN');
  await linkTo(page, done).waitFor();
});

test('a model that is being typed is asked for when it has been, not at every letter', async () => {
  const job = await processed('All is well.');
  const page = await open('/jobs?type=WRONG');
  await linkTo(page, job).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    const model = searchParams.get('model');
    if (pathname.endsWith('/jobs') && model !== null) asked.push(model);
  });
  await page.getByLabel('Model').focus();
  // In the page, because a busy machine takes as long for a key as people do for a pause.
  await page.evaluate(`(async () => {
    const field = document.activeElement;
    for (const letter of 'big & 100%') {
      field.value += letter;
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await new Promise((done) => setTimeout(done, 10));
    }
  })()`);
  await page.getByText('No jobs match these filters.').waitFor();
  expect(asked.at(-1)).toBe('big & 100%');
  expect(new Set(asked).size).toBeLessThan(4);
  expect(new URL(page.url()).searchParams.get('model')).toBe('big & 100%');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await linkTo(page, job).waitFor();
  await page.goto('/jobs?model=iny');
  await linkTo(page, job).waitFor();
});

test('a finished job shows what the model wrote, as it is meant', async () => {
  const job = await processed('# Plan\n\n- one\n- **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |');
  const page = await open(`/jobs/${job.id}`);
  await page.locator('.markdown li strong', { hasText: 'two' }).waitFor();
  expect(await page.locator('.markdown td').allTextContents()).toEqual(['1', '2']);
  await page.getByText('Anna/den-pc').first().waitFor();
  await page.getByText('Requests are erased as soon as a job is done.').waitFor();
  await page.getByText('The whole answer as JSON').click();
  expect(await page.locator('details pre').textContent()).toContain('"chat.completion"');
  await expectSound(page, 'job-processed');
});

test('a name is text, whatever its request was, and jobs are searched by it', async () => {
  const hostile = '<b onmouseover="window.isTaken = 1">\u202eevil</b> شمال غرب '.repeat(9);
  const rightToLeft = 'ثعلب أحمر في الثلج '.repeat(9);
  const jobs: JobBody[] = [];
  for (const content of ['Draw a red fox', hostile, rightToLeft]) {
    served.fake.behave(answer({ text: 'Done.' }));
    jobs.push(await submitted(gateway, { messages: [{ role: 'user', content }] }));
  }
  const page = await open('/jobs?search=NO%20SUCH');
  await page.getByText('No jobs match these filters.').waitFor();
  await page.getByLabel('Search').fill('red FOX');
  const link = linkTo(page, jobs[0]);
  await link.waitFor();
  expect(await link.textContent()).toBe('Draw a red fox');
  expect(new URL(page.url()).searchParams.get('search')).toBe('red FOX');
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(await page.locator('.work-model').first().textContent()).toBe('tiny');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  const evil = linkTo(page, jobs[1]);
  await evil.waitFor();
  expect(await evil.textContent()).toMatch(/^<b onmouseover="window.isTaken = 1">evil<\/b> شمال/);
  expect(await evil.getAttribute('dir')).toBe('auto');
  expect(await page.evaluate('typeof window.isTaken')).toBe('undefined');
  await expectSound(page, 'jobs-named');
  await linkTo(page, jobs[2]).click();
  await page.getByRole('heading', { level: 1, name: /^Job: ثعلب أحمر/ }).waitFor();
  expect(await page.title()).toBe('Job · Inference Gateway');
  await expectSound(page, 'job-named');
});

test('what a model writes stays text, whatever it is', async () => {
  const hostile = [
    '<script>window.isTaken = 1</script>',
    '<img src=x onerror="window.isTaken = 1">',
    '[a link](javascript:window.isTaken=1) and [another](https://example.org/x)',
    '![a picture](https://example.org/pixel.png)',
    '[data](data:text/html,<script>1</script>)',
    `${'> '.repeat(500)}deep`,
  ].join('\n\n');
  const job = await processed(hostile);
  const page = await open(`/jobs/${job.id}`);
  const text = page.locator('.markdown');
  await text.getByText('<script>window.isTaken = 1</script>').waitFor();
  await text.getByText('onerror').waitFor();
  expect(await text.locator('script, img, iframe').count()).toBe(0);
  const addresses = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('.markdown a')]
      .map(({ href, rel, target }) => [href, rel, target].join('|'))`,
  );
  const safe = 'noopener noreferrer nofollow|_blank';
  expect(addresses).toEqual([
    `https://example.org/x|${safe}`,
    `https://example.org/pixel.png|${safe}`,
  ]);
  expect(await page.evaluate('typeof window.isTaken')).toBe('undefined');
  await page.setViewportSize({ width: 360, height: 780 });
  await expectNoSideways(page);
  await expectAccessible(page);
});

test('a failed job says why and what to do, gives its request, and is retried', async () => {
  const job = await failed();
  const page = await open(`/jobs/${job.id}`);
  await page.getByText('a word that I do not like').first().waitFor();
  await page.getByText('provider_rejected').waitFor();
  await page.getByText('change the request and submit it again').waitFor();
  expect(await page.locator('.job-body pre').textContent()).toContain('"hello"');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const curl = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(curl).toContain(`${gateway.baseUrl}/chat/completions`);
  expect(curl).toContain('"async": true');
  await expectSound(page, 'job-failed');
  // The request of this run says the same, as long as the job is not retried.
  const run = `${job.id}.1`;
  await until(() => usageRows(gateway).some(({ requestId }) => requestId === run));
  await page.goto(`/usage/${run}`);
  await page.getByText('a word that I do not like').waitFor();
  await page.getByText('Change what the message names.').waitFor();
  await page.goBack();

  served.fake.behave(answer({ text: 'Better now.' }));
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.locator('.markdown', { hasText: 'Better now.' }).waitFor();
  await page.getByText('Retried, queued again').waitFor();
  expect((await getJob(gateway, job.id)).status).toBe('PROCESSED');
});

test('each attempt is told with who made it and why it failed', async () => {
  // Once: on a busy machine the next attempt would otherwise fail, too, before the page is there.
  served.fake.behave(answer({ text: 'Now.' }));
  served.fake.once(reply(503, { error: { message: 'The model server is starting.' } }));
  const { id } = await submitted(gateway);
  const page = await open(`/jobs/${id}`);
  const steps = page.locator('.timeline li');
  const first = steps.filter({ hasText: 'Attempt 1 failed' });
  await first.filter({ hasText: /by Anna\/den-pc, after .*: .*is starting/ }).waitFor();
  await gateway.admin('queue.requeue-stuck', {});
  await steps.filter({ hasText: 'Done' }).waitFor({ timeout: 10_000 });
  await steps.filter({ hasText: 'Attempt 2 of 3' }).filter({ hasText: 'by Anna/den-pc' }).waitFor();
  expect(await first.count()).toBe(1);
  await expectSound(page, 'job-attempts');
});

test('a waiting job is canceled after a question, by keyboard alone', async () => {
  await pauseQueue(gateway);
  const job = await submitted(gateway);
  const page = await open(`/jobs/${job.id}`);
  await page.getByText('Queued #1').waitFor();
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
  await cancel.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await getJob(gateway, job.id)).status).toBe('QUEUED');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Cancel the job' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Canceled').first().waitFor();
  expect((await getJob(gateway, job.id)).status).toBe('CANCELED');
});

test('several are canceled and retried at once', async () => {
  const jobs = [await submitted(gateway), await submitted(gateway), await submitted(gateway)];
  const statuses = () =>
    Promise.all(jobs.map(async ({ id }) => (await getJob(gateway, id)).status));
  const page = await open('/jobs?active=1');
  await linkTo(page, jobs[0]).waitFor();
  await page.getByLabel('Select all that are shown').check();
  await page.getByText('3 jobs selected').waitFor();
  await page.getByRole('button', { name: 'Cancel 3' }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Cancel 3 jobs' }).click();
  await page.getByText('No jobs match these filters.').waitFor();
  expect(await statuses()).toEqual(['CANCELED', 'CANCELED', 'CANCELED']);

  await page.goto('/jobs?status=CANCELED');
  for (const { id } of jobs.slice(0, 2)) await page.getByLabel(`Select job ${id}`).check();
  await page.getByText('2 jobs selected').waitFor();
  await shoot(page, 'jobs-selected');
  await page.getByRole('button', { name: 'Retry 2' }).click();
  await page.getByRole('button', { name: 'Retry 2 jobs' }).click();
  await page.getByText('Queued again: 2 jobs.').waitFor();
  expect(await statuses()).toEqual(['QUEUED', 'QUEUED', 'CANCELED']);
});

test("another member's job looks as if it were not there", async () => {
  const job = await submitted(gateway);
  const page = await browser.newPage();
  expectProblem(page, /404/);
  await logIn(page, gateway, gateway.ben);
  await page.goto(`/jobs/${job.id}`);
  await page.getByText(`There is no job ${job.id} of yours.`).waitFor();
  await expectAccessible(page);
});

test('a list that cannot be loaded says why', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, /\/api\/console\/v1\/jobs\?/, 'The database is full.');
  await page.goto('/jobs');
  await page.getByText('The database is full.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'Jobs' }).waitFor();
});

function linkTo(page: Page, job: JobBody | undefined) {
  return page.locator(`a[href="/jobs/${job?.id}"]`);
}
