/**
 * The dashboard in a real browser: one for a file of tests, a page of its own for each test. A page
 * that reports an error nobody expected fails its test.
 */
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { findChromium } from '../../scripts/chromium.js';
import { watchPage } from './page-problems.js';

export interface Look {
  /** A narrow phone, or a wide screen. */
  readonly width: 360 | 1440;
  readonly theme: 'dark' | 'light';
}

const EVERY_LOOK: readonly Look[] = [
  { width: 1440, theme: 'light' },
  { width: 1440, theme: 'dark' },
  { width: 360, theme: 'dark' },
  { width: 360, theme: 'light' },
];

export interface TestBrowser {
  /** Wide and light, unless told otherwise; it is closed, and judged, when the test has ended. */
  newPage(look?: Partial<Look>): Promise<Page>;
  close(): Promise<void>;
}

/** For `beforeAll`; the file closes it in `afterAll`. Paths of its pages are the gateway's. */
export async function openBrowser(gateway: { readonly address: string }): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(NO_BROWSER);
  const browser = await chromium.launch({ executablePath, args: ARGS });
  return {
    newPage: (look = {}) => newPage(browser, gateway.address, { ...DEFAULT_LOOK, ...look }),
    close: () => browser.close(),
  };
}

/** The same page, narrow and wide, in dark and light, without loading it anew; then as it began. */
export async function onEveryLook(page: Page, check: (look: Look) => Promise<void>): Promise<void> {
  for (const look of EVERY_LOOK) {
    await show(page, look);
    await check(look);
  }
  await show(page, DEFAULT_LOOK);
}

/** And waits until the page has followed. */
export async function show(page: Page, { width, theme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: HEIGHTS[width] });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.evaluate(TWO_FRAMES);
}

const DEFAULT_LOOK: Look = { width: 1440, theme: 'light' };
const HEIGHTS = { 360: 780, 1440: 900 } as const;
const TWO_FRAMES =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** A fake microphone that beeps once a second, without a permission prompt. */
const FAKE_MICROPHONE = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
/**
 * For each page Chromium 156 also loads the two pages behind its address bar, which nobody sees
 * here, and a process to spare: without them a page takes 0.3 s of CPU time instead of 0.6.
 */
const UNSEEN = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'];
/** Of its switches of this name Chromium takes the last: these are what Playwright turns off. */
const UNWANTED = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];
const ARGS = [...FAKE_MICROPHONE, `--disable-features=${[...UNWANTED, ...UNSEEN].join(',')}`];

const NO_BROWSER =
  'There is no Chromium on the PATH, and these tests look at the dashboard in one: install it ' +
  '("apt-get install chromium" on Debian), or name another with GATEWAY_TEST_CHROMIUM=/path.';

async function newPage(browser: Browser, baseURL: string, { width, theme }: Look): Promise<Page> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height: HEIGHTS[width] },
    colorScheme: theme,
    // What moves is at its end at once: nothing to wait for, and colours are what they are.
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
  });
  const page = await context.newPage();
  const problems = await watchPage(page);
  onTestFinished(async () => {
    await context.close();
    problems.judge();
  });
  return page;
}
