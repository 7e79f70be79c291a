import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { getJob, getJson, submitted } from '../api/job-calls.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer, hangBeforeHeaders } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { addAdmin, logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';

const SUMMARY = '/api/inference/queue/summary';

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

function openQueue(who: { readonly email: string } = gateway.anna): Promise<Page> {
  return openPage({ gateway, browser }, who, '/queue');
}

test('an idle queue says so, and how many slots are free', async () => {
  const page = await openQueue();
  await page.getByText('Nothing queued.').waitFor();
  await page.getByText('4 of 4 slots free.').waitFor();
  await expectSound(page, 'queue-empty');
});

test('shows what runs and what waits, and cancels one of them', async () => {
  const away = await startFakeOpenAi({ models: ['faraway'] });
  onTestFinished(() => away.close());
  const agent = await gateway.startAgent({
    services: [{ id: 'llm-9', baseUrl: away.baseUrl }],
    name: 'attic',
  });
  await agent.stop();
  served.fake.behave(hangBeforeHeaders());
  const jobs = [];
  for (let i = 0; i < 5; i++) jobs.push(await submitted(gateway));
  const far = await submitted(gateway, { model: 'faraway' });
  await until(async () => (await summary()).processing === 3);

  const page = await openQueue();
  const mine = page.getByRole('region', { name: 'Your jobs' });
  await mine.getByText('Running').nth(2).waitFor();
  // Few jobs are shown at once, in a table for each model.
  expect(await mine.getByRole('row').count()).toBe(1 + 5 + 1 + 1);
  const { waiting_reason: reason = '' } = await getJob(gateway, far.id);
  expect(reason).not.toBe('');
  // The moment in it is shown as people read times.
  expect(reason).toMatch(/ since \d{4}-.*Z\.$/);
  const since = /No provider that serves .* as Chat has been online for \d+ s/;
  await mine.getByText(since).first().waitFor();
  await mine.getByText('#1').first().waitFor();
  await figure(page, 'Running', '3');
  await figure(page, 'Queued', '3');
  await figure(page, 'Free slots', '1 of 4');
  const models = page.getByRole('region', { name: 'Queue by model' });
  await models.getByText('no provider online').waitFor();
  await models.getByRole('meter', { name: '3 of 4 slots busy' }).waitFor();
  await page.getByRole('list', { name: 'Queue by type' }).getByText('3 queued').waitFor();
  await expectSound(page, 'queue-full');

  await mine.getByRole('button', { name: `Cancel job ${far.id}` }).click();
  await mine.getByRole('link', { name: 'faraway' }).waitFor({ state: 'detached' });
  expect((await getJob(gateway, far.id)).status).toBe('CANCELED');
  await figure(page, 'Queued', '2');

  // A group is closed and opened by hand, and canceled as one.
  const tiny = mine.getByRole('listitem').filter({ hasText: 'tiny' });
  const jobsOf = tiny.getByRole('button', { name: 'Jobs of tiny', exact: true });
  await jobsOf.press('Enter');
  await tiny.getByRole('table').waitFor({ state: 'detached' });
  await tiny.getByText('3 running').waitFor();
  await tiny.getByText('end unknown').waitFor();
  await tiny.getByText(/All 4 slots|Of 4 slots/).waitFor();
  await expectSound(page, 'queue-groups');
  await tiny.getByRole('button', { name: 'Cancel 5 jobs of tiny' }).click();
  await page.getByText('Cancel 5 jobs?').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Keep them as they are' }).click();
  await jobsOf.click();
  await tiny.getByRole('table').waitFor();

  // What ends elsewhere leaves the page by itself.
  served.fake.behave(answer());
  for (const { id } of jobs) await gateway.fetch(`/v1/jobs/${id}/cancel`, { method: 'POST' });
  await page.getByText('Nothing queued.').waitFor();
});

test('an admin pauses the queue and lets it run again; members are told', async () => {
  const page = await openQueue(await addAdmin(gateway));
  await page.getByRole('button', { name: 'Pause the queue' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Pause the queue' }).press('Enter');
  await page.getByText('The queue is paused. Running jobs continue').waitFor();
  expect((await summary()).paused).toBe(true);

  const member = await openQueue();
  await member.getByText('An admin has paused the queue.').waitFor();
  expect(await member.getByRole('button', { name: 'Pause the queue' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Resume the queue' }).click();
  await page.getByRole('button', { name: 'Pause the queue' }).waitFor();
  expect((await summary()).paused).toBe(false);
  await member.getByText('An admin has paused the queue.').waitFor({ state: 'detached' });
});

test('says when nothing is handed out, and when jobs are switched off', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const shown = { ...(await summary()), worker_stalled: true, queued: 3 };
  await page.route(`**${SUMMARY}`, (route) => route.fulfill({ json: shown }));
  await page.goto('/queue');
  await page.getByText('has not started one for a minute').waitFor();
  await expectAccessible(page);
  await page.route(`**${SUMMARY}`, (route) =>
    route.fulfill({ json: { ...shown, async_enabled: false } }),
  );
  await page.reload();
  await page.getByText('Jobs and batches are switched off').waitFor();
  await expectAccessible(page);
});

test('without an answer says why, and tries again when it is asked to', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, `**${SUMMARY}`, 'The database is full.');
  await page.goto('/queue');
  await page.getByText('The database is full.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page.getByText('Nothing queued.').waitFor();
});

function summary(): Promise<{ readonly processing: number; readonly paused: boolean }> {
  return getJson(gateway, SUMMARY);
}

/** Waits until the tile has it: the figures are asked for beside the jobs. */
function figure(page: Page, label: string, text: string): Promise<void> {
  const tile = page.locator('.tile', { hasText: label }).first();
  return tile.locator('.figure', { hasText: new RegExp(`^${text}$`) }).waitFor();
}
