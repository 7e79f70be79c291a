/**
 * The dashboard in a real browser: one browser for a file of tests, a new page for each test. A
 * page that reports an unexpected error fails its test. It is Chromium, or with
 * `npm run test:firefox` Firefox.
 */
import { chromium, firefox } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { findChromium } from '../../scripts/browsers.js';
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
  /**
   * Wide and light by default. When the test ends, the page is closed and its problems are judged.
   */
  newPage(look?: Partial<Look>): Promise<Page>;
  close(): Promise<void>;
}

/** Of what only one of them can do, or what the page looks like in. */
export const isFirefox = process.env['GATEWAY_TEST_BROWSER'] === 'firefox';

/**
 * For `beforeAll`; the file closes it in `afterAll`. Its pages resolve paths against the gateway.
 */
export async function openBrowser(gateway: { readonly address: string }): Promise<TestBrowser> {
  const browser = await (isFirefox ? launchFirefox() : launchChromium());
  return {
    newPage: (look = {}) => newPage(browser, gateway.address, { ...DEFAULT_LOOK, ...look }),
    close: () => browser.close(),
  };
}

/** Checks the page in every look without reloading it, then restores the default look. */
export async function onEveryLook(page: Page, check: (look: Look) => Promise<void>): Promise<void> {
  for (const look of EVERY_LOOK) {
    await show(page, look);
    await check(look);
  }
  await show(page, DEFAULT_LOOK);
}

/** Sets the look, and waits until the page has drawn it. */
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
 * For each page Chromium 156 also loads the two pages behind its address bar, which no test needs,
 * and a spare process: without them a page takes 0.3 s of CPU time instead of 0.6.
 */
const UNSEEN = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'];
/** Chromium obeys only the last `--disable-features`, so this repeats what Playwright disables. */
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

/** Firefox has settings for what Chromium has arguments and permissions for. */
const FIREFOX_SETTINGS = {
  'dom.events.testing.asyncClipboard': true,
  'media.navigator.permission.disabled': true,
  'media.navigator.streams.fake': true,
  'ui.prefersReducedMotion': 1,
};

const NO_CHROMIUM =
  'There is no Chromium on the PATH, and these tests look at the dashboard in one: install it ' +
  '("apt-get install chromium" on Debian), or name another with GATEWAY_TEST_CHROMIUM=/path.';

function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath, args: ARGS });
}

/** As it is installed: the channel speaks WebDriver BiDi, and not to a Firefox of Playwright's. */
function launchFirefox(): Promise<Browser> {
  const executablePath = fileURLToPath(new URL('firefox.js', import.meta.url));
  const firefoxUserPrefs = FIREFOX_SETTINGS;
  return firefox.launch({ channel: 'moz-firefox', executablePath, firefoxUserPrefs });
}

async function newPage(browser: Browser, baseURL: string, { width, theme }: Look): Promise<Page> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height: HEIGHTS[width] },
    colorScheme: theme,
    // Animations end at once: tests need not wait for them, and colours are final.
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
  });
  const page = await context.newPage();
  const problems = await watchPage(page);
  onTestFinished(async () => {
    // A handler of a request of the page may be waiting for the page.
    if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    problems.judge();
  });
  return page;
}
