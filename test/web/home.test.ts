/** Home: what needs somebody, how things are, and the first steps. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ended, pauseQueue, resumeQueue, submitted } from '../api/job-calls.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { reply } from '../support/fake-behaviours.js';
import { givePassword } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { until } from '../support/until.js';
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

function open(who: { readonly email: string }): Promise<Page> {
  return openPage({ gateway, browser }, who, '/');
}

function tile(page: Page, name: RegExp) {
  return page.locator('.tiles').getByRole('link', { name });
}

test('a new member ticks off the first steps, or closes the list everywhere', async () => {
  const email = 'nora@example.org';
  await gateway.admin('user.create', { email, name: 'Nora', admin: false, password: null });
  givePassword(gateway, email);
  const page = await open({ email });
  await page.getByText('All is well.').waitFor();
  await page.getByText('No model is online for you.').waitFor();
  const steps = page.locator('.checklist');
  await steps.getByRole('link').nth(3).waitFor();
  const links = await steps.getByRole('link').all();
  const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
  // Without a GPU there is nothing to share.
  const [add, invite, token, call] = hrefs;
  expect([add, invite]).toEqual(['/providers?new=1', '/network?invite=1']);
  expect([token, call]).toEqual(['/settings/token', '/playground']);
  await expectSound(page, 'home-new');
  const key = { user: email, name: 'laptop', scope: 'any', expires_in_s: null } as const;
  await gateway.admin('key.create', key);
  await page.reload();
  await steps.getByText('Make a key (done)').waitFor();
  expect(await steps.getByRole('link').count()).toBe(3);

  await steps.getByRole('link', { name: 'Invite someone' }).click();
  await page.getByRole('dialog').getByRole('heading', { name: 'Invite and share' }).waitFor();
  await page.keyboard.press('Escape');
  await page.goto('/');
  await page.getByRole('button', { name: 'Close the list' }).click();
  await steps.waitFor({ state: 'detached' });
  const another = await browser.newPage();
  await logIn(another, gateway, { email });
  await another.goto('/');
  await another.getByText('All is well.').waitFor();
  expect(await another.locator('.checklist').count()).toBe(0);
  await another.goto('/settings');
  await another.getByRole('button', { name: 'Show the list on Home' }).click();
  await another.getByText('Home shows the list').waitFor();
  await page.reload();
  await steps.waitFor();
});

test('the steps go when all is done, and what is busy is shown beside the base URL', async () => {
  await ended(gateway, (await submitted(gateway)).id);
  await gateway.admin('network.create', { name: 'club', owner: 'Anna' });
  const page = await open(gateway.anna);
  await page.getByRole('link', { name: 'Share it' }).waitFor();
  await gateway.admin('network.add', { network: 'club', member: 'Ben' });
  await gateway.admin('provider.share', {
    provider: 'Anna/den-pc',
    service: null,
    model: null,
    network: 'club',
    user: null,
    slots: null,
    hours: null,
    time_zone: null,
    max_tokens: null,
  });
  await page.reload();
  await page.getByText('1 model online, all free.').waitFor();
  await tile(page, /My GPUs online\s*1\/1/).waitFor();
  await tile(page, /Requests\s*1/).waitFor();
  const perHour = tile(page, /Requests/).getByRole('img', { name: /^1 request in 24 hours/ });
  await perHour.waitFor();
  await tile(page, /Tokens/)
    .getByRole('img', { name: /tokens? in 24 hours/ })
    .waitFor();
  const card = page.getByRole('listitem').filter({ hasText: 'den-pc' });
  await card.getByRole('meter', { name: /^0 of \d slots? busy$/ }).waitFor();
  expect(await card.getByRole('link', { name: 'den-pc' }).getAttribute('href')).toMatch(
    /^\/providers\/\w+$/,
  );
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Copy the base URL' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(gateway.baseUrl);

  await pauseQueue(gateway);
  await submitted(gateway);
  await tile(page, /Queued\s*1\s*oldest/).waitFor();
  await page.getByRole('row', { name: /tiny.* 1$/ }).waitFor();
  await page.getByText('An admin has paused the queue.').waitFor();
  await expectSound(page, 'home-busy');
  await resumeQueue(gateway);
  await tile(page, /Queued\s*0\s*nothing waits/).waitFor();
  await tile(page, /Queued/).click();
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
});

test('each thing that needs attention leads to where it is mended', async () => {
  served.fake.behave(reply(400, { error: { message: 'No.' } }));
  await ended(gateway, (await submitted(gateway)).id);
  const key = { user: 'Anna', name: 'cron', scope: 'any', expires_in_s: 86_400 } as const;
  await gateway.admin('key.create', key);
  await gateway.admin('provider.pause', { provider: 'Anna/den-pc' });
  const page = await open(gateway.anna);
  const list = page.getByRole('region', { name: 'Needs attention' });
  const lead = async (text: RegExp): Promise<string | null> =>
    list.getByRole('link', { name: text }).getAttribute('href');
  await list.getByText('den-pc is paused').waitFor();
  expect(await lead(/den-pc is paused/)).toMatch(/^\/providers\/\w+$/);
  expect(await lead(/The key cron expires/)).toBe('/settings/token');
  expect(await lead(/1 job has failed/)).toBe('/jobs?status=FAILED');
  await expectSound(page, 'home-attention');
  await list.getByRole('link', { name: /1 job has failed/ }).click();
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
  expect(new URL(page.url()).search).toBe('?status=FAILED');
});

test('the figures of a day are asked for once a minute, the others far more often', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.clock.install();
  const asked = { day: 0, now: 0 };
  page.on('request', (request) => {
    if (request.url().includes('/my/home.day')) asked.day += 1;
    if (request.url().includes('/my/home.show')) asked.now += 1;
  });
  await page.goto('/');
  await tile(page, /Requests\s*\d/).waitFor();
  const now = (): Promise<number> => page.evaluate<number>('Date.now()');
  // Hints make polling five times as slow.
  const passTenSeconds = async (): Promise<void> => {
    const before = asked.now;
    await page.clock.runFor(10_000);
    await until(() => asked.now > before);
  };
  // Once it hears hints, all is asked for again.
  await passTenSeconds();
  const [day, since] = [asked.day, await now()];
  for (let tens = 0; tens < 7; tens += 1) await passTenSeconds();
  // While it waits for an answer, time passes by itself, too.
  const minutes = Math.ceil(((await now()) - since) / 60_000);
  expect(asked.day).toBeGreaterThan(day);
  expect(asked.day - day).toBeLessThanOrEqual(minutes);
});

test('a limit that is near is told with its end in the reader’s time', async () => {
  await gateway.admin('limit.set', { member: gateway.anna.id, day: { requests: 1 } });
  const page = await open(gateway.anna);
  const notice = page.getByText(/^You have used \d+ of your 1 requests of this day, until /);
  expect(await notice.textContent()).not.toMatch(/\dT\d|\dZ/);
});

test('without an answer it says why, and tries again', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.ben);
  await refuseUntilRetry(page, /home\.show/, 'The coordinator is being restarted.');
  await page.goto('/');
  await page.getByText('The coordinator is being restarted.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
});
