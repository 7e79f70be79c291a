import type { PerformanceResourceTiming } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryLook, openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectNoSideways, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { addAdmin, logIn } from '../support/page-session.js';
import { holdBack } from '../support/refused-requests.js';
import { until } from '../support/until.js';

/** Node's types have only the class. */
type Timing = (typeof PerformanceResourceTiming)['prototype'];

let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await openGateway();
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
});

test('a visitor who is not logged in is asked to, in every look', async () => {
  const page = await browser.newPage();
  expectProblem(page, /401.*\/api\/console\/v1\/session/);
  await page.goto('/queue');
  await page.locator('input[type=password]').waitFor();
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `log-in-${width}-${theme}`);
  });
});

test('a link into the dashboard opens its screen, and so does a reload', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.goto('/settings/token');
  const title = await page.locator('main h1').textContent();
  await page.reload();
  expect(await page.locator('main h1').textContent()).toBe(title);
  expect(new URL(page.url()).pathname).toBe('/settings/token');
});

test('all that a screen needs is asked for at once, and once', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/');
  await page.locator('.tile .figure').first().waitFor();
  const early = asked.filter((path) => /^\/assets\/.*\.(js|css)$|\/session$/.test(path));
  expect(early.filter((path, i) => early.indexOf(path) < i)).toEqual([]);
  expect(early).toContain('/api/console/v1/session');
  // Before the first script runs, everything is on its way that Home draws with.
  const late = await page.evaluate(() => {
    const all = performance.getEntriesByType('resource') as Timing[];
    const first = all.find(({ name }) => name.includes('/assets/index-'));
    return all
      .filter(({ startTime }) => startTime > (first?.responseEnd ?? 0))
      .map(({ name }) => new URL(name).pathname);
  });
  expect(late.length).toBeGreaterThan(0);
  expect(late.filter((path) => /\/(parts|home|frame)-|\/session$/.test(path))).toEqual([]);
});

test('the frame of all screens is sound in every look, for members and admins', async () => {
  for (const who of [gateway.anna, await addAdmin(gateway)]) {
    const page = await browser.newPage();
    await logIn(page, gateway, who);
    await page.goto('/no-such-screen');
    await page.locator('main h1').waitFor();
    await onEveryLook(page, async ({ width, theme }) => {
      await expectNoSideways(page);
      await expectAccessible(page);
      await shoot(page, `frame-${who.email}-${width}-${theme}`);
    });
  }
});

test('the page listens for hints over its own socket', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.addInitScript(`
    window.heard = [];
    window.WebSocket = class extends WebSocket {
      constructor(url) {
        super(url);
        this.addEventListener('open', () => heard.push(this.url));
        this.addEventListener('message', ({ data }) => heard.push(data));
      }
    };`);
  await page.goto('/queue');
  const heard = (): Promise<readonly string[]> => page.evaluate('window.heard');
  await until(async () => (await heard()).length === 1);
  expect(await heard()).toEqual([`${gateway.address.replace('http', 'ws')}/api/live`]);
  await gateway.startAgent({ services: [{}] });
  await until(async () => (await heard()).length > 1);
  expect((await heard())[1]).toMatch(/^\{"topic":"(queue|providers)"\}$/);
});

test('while the file of a screen is on its way, its heading and rows hold its place', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const release = await holdBack(page, '**/assets/library-*.js');
  // The first screen of a page, then one that is opened from another.
  await page.goto('/library');
  const placeholder = page.locator('main [role=status][aria-busy=true]', { hasText: 'Library' });
  await placeholder.waitFor();
  await shoot(page, 'placeholder');
  release();
  await page.getByRole('heading', { name: 'Library', level: 1 }).waitFor();
  expect(await placeholder.count()).toBe(0);
});

test('a screen that comes late replaces the one before by its heading', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.goto('/queue');
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
  const release = await holdBack(page, '**/assets/usage-*.js');
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.locator('main [role=status]', { hasText: 'Usage' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Queue' }).isVisible()).toBe(false);
  release();
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  expect(await page.locator('main h1').count()).toBe(1);
});

/** Its place was drawn above it for a frame in one of eight openings. */
const OPENINGS = 12;

test('a screen whose files are there already is never drawn below its own place', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.addInitScript(`
    window.framesWithBoth = 0;
    const look = () => requestAnimationFrame(() => {
      const isDrawn = document.querySelector('main h1') !== null;
      if (isDrawn && document.querySelector('main p.page-head') !== null) framesWithBoth += 1;
      look();
    });
    look();`);
  for (let i = 0; i < OPENINGS; i += 1) {
    await page.goto('/settings/security');
    await page.getByRole('row', { name: /this browser/ }).waitFor();
    expect(await page.evaluate<number>('framesWithBoth')).toBe(0);
  }
});

test('a screen whose file is gone says so', async () => {
  const page = await browser.newPage();
  expectProblem(page, /library-.*\.js|ERR_FAILED/);
  await logIn(page, gateway, gateway.anna);
  await page.route('**/assets/library-*.js', (route) => route.abort());
  await page.goto('/library');
  await page.getByRole('alert').getByText('This screen could not be loaded.').waitFor();
  await page.getByText('There is no connection, or the gateway was updated').waitFor();
  await page.unroute('**/assets/library-*.js');
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await page.getByRole('heading', { name: 'Library', level: 1 }).waitFor();
});

test('a screen that could not be loaded is there once the gateway answers again', async () => {
  const page = await browser.newPage();
  expectProblem(page, /library-.*\.js|healthz|ERR_FAILED/);
  await logIn(page, gateway, gateway.anna);
  const gone = /\/assets\/library-.*\.js|\/healthz/;
  await page.route(gone, (route) => route.abort());
  await page.goto('/library');
  await page.getByRole('alert').getByText('This screen could not be loaded.').waitFor();
  await page.waitForEvent('requestfailed', (sent) => sent.url().endsWith('/healthz'));
  await page.unroute(gone);
  await page.getByRole('heading', { name: 'Library', level: 1 }).waitFor();
});
