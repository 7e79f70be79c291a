/**
 * Every screen, with long names: its controls can be reached, read and hit, and it does not jump
 * while it loads. `npm run test:layout` does so at ten widths, in two fonts, for all roles.
 */
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findChromium } from '../../scripts/browsers.js';
import { everyScreen, lengthenNames, startFullDemo, useFont } from '../../scripts/full-demo.js';
import type { FullDemo } from '../../scripts/full-demo.js';
import {
  layoutFaults,
  mainPlace,
  shiftFaults,
  START_SHIFT_COUNT,
  TWO_FRAMES,
} from '../support/page-layout.js';
import { until } from '../support/until.js';

const isFull = process.env['FAULTS'] === 'full';
const WIDTHS = isFull ? [1280, 320, 360, 768, 900, 1024, 1366, 1440, 1920, 2560] : [320];
/** The page's own first. Inter is in Debian's package `fonts-inter`. */
const FONTS = isFull ? ['', 'Inter, sans-serif'] : [''];
/** Up to this width the page is used by touch. */
const TOUCH_PX = 1024;
/** Any other screen than the one that is checked. */
const OTHER = '/no-such-screen';
const TEST_MS = 1_200_000;

let demo: FullDemo;
let browser: Browser;

beforeAll(async () => {
  demo = await startFullDemo();
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('There is no Chromium on the PATH.');
  // Scroll bars take their room, as on a desktop.
  browser = await chromium.launch({ executablePath, ignoreDefaultArgs: ['--hide-scrollbars'] });
});

afterAll(async () => {
  await browser.close();
  await demo.stop();
});

test.each(isFull ? (['admin', 'member'] as const) : (['admin'] as const))(
  'no control of any screen of a %s leaves the screen',
  async (role) => {
    const context = await newContext(role);
    const page = await context.newPage();
    const screens = await everyScreen(page);
    const cdp = await context.newCDPSession(page);
    const faults: string[] = [];
    for (const width of WIDTHS) {
      const isTouch = width <= TOUCH_PX;
      await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: isTouch });
      await page.setViewportSize({ width, height: 900 });
      const places = new Set<string>();
      for (const screen of screens) {
        const moved = await jumpsOf(page, screen);
        faults.push(...moved.map((fault) => `${screen} at ${width} moved by ${fault}`));
        for (const font of FONTS) {
          await page.evaluate(useFont(font));
          const found = await layoutFaults(page, isTouch);
          faults.push(...found.map((fault) => `${screen} at ${width} ${font}: ${fault}`));
        }
        places.add(await mainPlace(page));
      }
      // A scroll bar that comes and goes must not move the frame.
      expect([...places]).toHaveLength(1);
    }
    await context.close();
    expect(faults).toEqual([]);
  },
  TEST_MS,
);

const DIALOGS: readonly (readonly [path: string, button: string | RegExp])[] = [
  ['/providers', 'Add a GPU'],
  ['/providers', 'Invite and share'],
  ['/settings/token', 'Create key'],
  ['/settings/aliases', 'Create alias'],
  ['/network', 'New network'],
  ['/network', 'Invite a member'],
  ['/network', 'Share with one person'],
  ['/network', /^Limits of/],
  ['/batches', 'New batch'],
  ['/queue', 'Cancel all'],
  ['/library', /^Delete/],
  ['/playground/image', 'Code'],
  ['/admin/users', 'Invite somebody'],
  ['/admin/networks', 'Create network'],
];

test(
  'no control of a dialog leaves the screen',
  async () => {
    const context = await newContext('admin');
    const page = await context.newPage();
    await page.goto(OTHER);
    const faults: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const [path, name] of DIALOGS) {
        await visit(page, path);
        await page.getByRole('button', { name }).first().click();
        await page.getByRole('dialog').waitFor();
        for (const font of FONTS) {
          await page.evaluate(useFont(font));
          const found = await layoutFaults(page, false);
          faults.push(...found.map((fault) => `${path}, ${name} at ${width} ${font}: ${fault}`));
        }
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
    await context.close();
    expect(faults).toEqual([]);
  },
  TEST_MS,
);

test('on a phone, neither a long name nor the bar at the top hides anything', async () => {
  const context = await newContext('admin');
  const page = await context.newPage();
  await page.setViewportSize({ width: 360, height: 780 });
  await page.goto('/jobs');
  await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
  const bar = page.locator('.selection-bar');
  await bar.waitFor();
  await page.locator('.choose').nth(15).scrollIntoViewIfNeeded();
  const topbar = await page.locator('.topbar').boundingBox();
  const place = await bar.boundingBox();
  expect(place?.y).toBe((topbar?.y ?? NaN) + (topbar?.height ?? NaN));
  await page.goto('/providers');
  await page.locator('main table th a').first().click();
  const pause = page.getByRole('button', { name: 'Pause for others' });
  await pause.click();
  await page.locator('.toast').waitFor();
  expect(await layoutFaults(page, false)).toEqual([]);
  await page.getByRole('button', { name: 'Resume for others' }).click();
  await pause.waitFor();
  await context.close();
});

/** A browser of somebody who is logged in, to whom all names are long. */
async function newContext(role: 'admin' | 'member'): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: demo.address, reducedMotion: 'reduce' });
  await lengthenNames(context);
  const answer = await context.request.post('/api/console/v1/session', {
    headers: { origin: demo.address },
    data: { email: demo[role].email, password: demo.password },
  });
  expect(answer.ok()).toBe(true);
  return context;
}

/**
 * What has moved while the screen loaded. Live data may have come meanwhile, which moves what is
 * below it; what loading moves, it moves again.
 */
async function jumpsOf(page: Page, screen: string): Promise<readonly string[]> {
  await visit(page, screen);
  const moved = await shiftFaults(page);
  if (moved.length === 0) return moved;
  await visit(page, OTHER);
  await visit(page, screen);
  return shiftFaults(page);
}

/** Follows a link to the screen, and waits until all is loaded. */
async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(START_SHIFT_COUNT);
  await page.evaluate(`{
    const link = document.createElement('a');
    link.href = ${JSON.stringify(path)};
    document.querySelector('#app').append(link);
    link.click();
    link.remove();
  }`);
  await until(() => page.evaluate<boolean>(`${LOADED} && location.pathname === '${path}'`));
  await page.evaluate(TWO_FRAMES);
}

const LOADED = `document.querySelector('main h1') !== null
  && document.querySelector('[aria-busy=true]') === null`;
