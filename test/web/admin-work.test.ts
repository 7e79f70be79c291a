/** Admin: providers, jobs, keys, usage, audit, system. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ended, getJob, pauseQueue, resumeQueue, submitted } from '../api/job-calls.js';
import { choose, confirm, press, rowOf } from '../support/admin-page.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer } from '../support/fake-behaviours.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { addAdmin, openPage } from '../support/page-session.js';
import type { WithPassword } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

let served: ServedGateway;
let gateway: TestGateway;
let browser: TestBrowser;
let admin: WithPassword;

beforeAll(async () => {
  served = await openServedGateway();
  ({ gateway } = served);
  browser = await openBrowser(gateway);
  admin = await addAdmin(gateway);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
});

function open(path: string): Promise<Page> {
  return openPage({ gateway, browser }, admin, path);
}

async function provider() {
  const [only] = await gateway.admin('provider.list', {});
  return only;
}

async function createNetwork(index: number): Promise<void> {
  await gateway.admin('network.create', { name: `net-${index}`, owner: 'Anna' });
}

test('usage of everybody begins empty, then counts each by what it is grouped by', async () => {
  const page = await open('/admin/usage');
  await page.getByText('Nobody has called in this time.').waitFor();
  await expectSound(page, 'admin-usage-empty');
  served.fake.behave(answer({ text: 'Hello.' }));
  await ended(gateway, (await submitted(gateway)).id);
  await until(() => usageRows(gateway).length === 1);
  await rowOf(page, /^Anna 1 0/).waitFor();
  await page.getByText(/^1 request in 7 days, .*; tiny has 100 %\./).waitFor();
  await page.locator('.usage-chart canvas').waitFor();
  await expectSound(page, 'admin-usage');
  await page.getByLabel('By', { exact: true }).selectOption('Model');
  await rowOf(page, /^tiny 1 0/).waitFor();
  expect(new URL(page.url()).search).toBe('?by=model');
});

test('a provider is drained, paused, disconnected and removed', async () => {
  const page = await open('/admin/providers');
  await rowOf(page, /den-pc.*online/i).waitFor();
  await expectSound(page, 'admin-providers');
  await choose(page, 'Anna/den-pc', 'Drain');
  await rowOf(page, /den-pc.*draining/).waitFor();
  expect(await provider()).toMatchObject({ draining: true });
  await choose(page, 'Anna/den-pc', 'End draining');
  await until(async () => (await provider())?.draining === false);
  await choose(page, 'Anna/den-pc', 'Pause');
  await rowOf(page, /den-pc.*paused/).waitFor();
  await page.getByLabel('State').selectOption('Offline');
  await page.getByText('No providers match these filters.').waitFor();
  await press(page, 'Clear the filters');
  await choose(page, 'Anna/den-pc', 'Resume');
  await until(async () => (await provider())?.paused === false);
  const before = (await provider())?.connected_at;
  await page.getByLabel('Actions for Anna/den-pc').click();
  await page.getByRole('button', { name: 'Uptime…' }).click();
  await page.getByRole('dialog').getByText('of the time today.').waitFor();
  await expectSoundNarrow(page, 'admin-uptime');
  await page.getByRole('button', { name: 'Done' }).click();
  await confirm(page, 'Anna/den-pc', 'Disconnect');
  await until(async () => {
    const now = (await provider())?.connected_at ?? null;
    return now !== null && now !== before;
  });

  await gateway.ben.enroll('old-pc');
  await confirm(page, 'Ben/old-pc', 'Remove');
  await rowOf(page, /old-pc/).waitFor({ state: 'detached' });
  expect(await gateway.admin('provider.list', {})).toHaveLength(1);
});

test('jobs of everybody are filtered, canceled and retried', async () => {
  await pauseQueue(gateway);
  const { id } = await submitted(gateway);
  const page = await open('/admin/jobs?status=QUEUED');
  await rowOf(page, /Queued tiny Anna/).waitFor();
  await expectSound(page, 'admin-jobs');
  await confirm(page, `job ${id}`, 'Cancel job');
  await page.getByText('No jobs match these filters.').waitFor();
  expect((await getJob(gateway, id)).status).toBe('CANCELED');
  await page.getByLabel('Status').selectOption('CANCELED');
  await choose(page, `job ${id}`, 'Retry');
  await until(async () => (await getJob(gateway, id)).status === 'QUEUED');
  await page.getByLabel('Status').selectOption('Any');
  await page.getByLabel('Member').selectOption('Ben');
  await page.getByText('No jobs match these filters.').waitFor();
  expect(new URL(page.url()).searchParams.get('user')).toBe(gateway.ben.id);
  await resumeQueue(gateway);
});

test('keys of everybody are disabled, enabled and revoked', async () => {
  const page = await open('/admin/keys');
  const name = `test of ${gateway.ben.email}`;
  const row = rowOf(page, /ben@example\.org/);
  await row.waitFor();
  await expectSound(page, 'admin-keys');
  const opens = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    return (await fetch(`${gateway.baseUrl}/models`, { headers })).status;
  };
  await choose(page, name, 'Disable');
  await row.getByText('disabled').waitFor();
  expect(await opens()).toBe(401);
  await choose(page, name, 'Enable');
  await row.getByText('Active').waitFor();
  expect(await opens()).toBe(200);
  await confirm(page, name, 'Revoke');
  await row.getByText('revoked').waitFor();
  expect(await opens()).toBe(401);
  await page.getByLabel('State').selectOption('Expired');
  await page.getByText('No keys match these filters.').waitFor();
});

test('the audit log tells who did what, filtered, and a page at a time', async () => {
  for (let index = 1; index <= 101; index += 1) await createNetwork(index);
  const page = await open('/admin/audit?about=network');
  await rowOf(page, /network\.create net-101/).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(100);
  await press(page, 'Load more');
  await rowOf(page, /network\.create net-1 /).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(101);
  await page.getByLabel('By').selectOption('root');
  await page.getByText('No entries match these filters.').waitFor();
  await page.getByLabel('About').selectOption('Keys');
  await rowOf(page, /root key\.revoke ben@example\.org\/test/).waitFor();
  await expectSound(page, 'admin-audit');
});

test('the system tells of itself, and its queue is paused there', async () => {
  const page = await open('/admin/system');
  await page.getByText('Limits in force').waitFor();
  await page.getByText('1,000,000').waitFor();
  await expectSound(page, 'admin-system');
  await press(page, 'Pause the queue');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause the queue' }).click();
  await press(page, 'Resume the queue');
  await until(async () => !(await gateway.admin('system.show', {})).queue_paused);
});

test('what is refused, or not answered, is said', async () => {
  const page = await open('/admin/users');
  await refuseUntilRetry(page, /key\.list/, 'The coordinator is being restarted.');
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByText('The coordinator is being restarted.').waitFor();
  await expectAccessible(page);
  await press(page, 'Try again');
  await rowOf(page, /anna@example\.org/).waitFor();
  await page.goto('/admin/nowhere');
  await page.getByRole('link', { name: 'Go to the overview' }).click();
  await page.getByText('Providers online').waitFor();
});
