// Takes the pictures of README from a demo, in Chromium: `npm run screenshots`. With `--all DIR`
// every screen goes there, with long names, in six widths, in light and dark, in the system's font
// and in Inter, for a person to look at. `--only TEXT` chooses the screens whose path contains it.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findChromium } from './browsers.js';
import { everyScreen, lengthenNames, startFullDemo, useFont } from './full-demo.js';
import { startProgram, stopPrograms } from './program.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const COORDINATOR = join(root, 'packages', 'coordinator', 'bin', 'gateway-coordinator.js');
const README_FOLDER = join(root, 'docs', 'screenshots');
/** The size limit of each picture in a clone. */
const MAX_BYTES = 200 * 1024;
/** Until the demo's first jobs have ended, and others wait. */
const WARM_UP_MS = 12_000;
const ANNOUNCEMENT_MS = 10_000;
/** Pages ask again every few seconds: what has not come by then is not waited for. */
const CALM_MS = 4_000;
const HEADING_MS = 15_000;
const HEIGHTS = { 360: 780, 900: 1000, 1280: 720, 1366: 768, 1440: 900, 1920: 1080 };
const WIDTHS = /** @type {const} */ ([1440, 360, 900, 1280, 1366, 1920]);
/** These show both themes; the others have the same layout in light. */
const BOTH_THEMES = [1440, 360];
/** The system's is whatever fontconfig names; Inter is in Debian's package `fonts-inter`. */
const FONTS = { system: '', inter: 'Inter, sans-serif' };
/** The screen of those who are not logged in. */
const OUTSIDE = '/login';
/** At the end of the path of one object. */
const ID = /\/[0-9A-HJKMNP-TV-Za-z_-]{20,}(\.\d+)?$/;
const [LIGHT, DARK] = /** @type {const} */ (['light', 'dark']);
const README_PICTURES = /** @type {const} */ ([
  { name: 'home-light', path: '/', theme: 'light' },
  { name: 'queue-dark', path: '/queue', theme: 'dark' },
]);

/**
 * @typedef {import('playwright-core').Browser} Browser
 * @typedef {import('playwright-core').BrowserContext} Context
 * @typedef {import('playwright-core').Page} Page
 * @typedef {{ url: string, email: string, password: string }} Demo
 * @typedef {{ width: keyof typeof HEIGHTS, theme: 'light' | 'dark' }} Look
 */

const { all, only = '' } = parseArgs({
  options: { all: { type: 'string' }, only: { type: 'string' } },
}).values;
/** @type {Browser | null} */
let browser = null;
try {
  browser = await chromium.launch({ executablePath: browserPath() });
  if (all === undefined) await takeReadmePictures(browser);
  else await takeEveryScreen(browser, all);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await browser?.close();
  // The demo's folder goes with it.
  await stopPrograms();
}

/** @returns {Promise<Demo>} */
async function startDemo() {
  const args = [COORDINATOR, 'start', '--demo', '--port', '0'];
  const started = await startProgram({ name: 'coordinator', args }, /listening on (http:\/\/\S+)/);
  const email = await announced(started.tail, /^ {2}e-mail +(\S+)$/);
  const password = await announced(started.tail, /^ {2}password +(\S+)$/);
  return { url: started.ready, email, password };
}

/** @param {readonly string[]} lines They still grow. @param {RegExp} pattern */
async function announced(lines, pattern) {
  for (let waitedMs = 0; waitedMs < ANNOUNCEMENT_MS; waitedMs += 100) {
    const found = lines.map((line) => pattern.exec(line)?.[1]).find((one) => one !== undefined);
    if (found !== undefined) return found;
    await pause(100);
  }
  throw new Error(`the demo said nothing like ${pattern}:\n${lines.join('\n')}`);
}

function browserPath() {
  const path = findChromium();
  if (path !== null) return path;
  throw new Error(
    'There is no Chromium on the PATH. Install it ("apt-get install chromium" on Debian), ' +
      'or name another browser with GATEWAY_TEST_CHROMIUM=/path.',
  );
}

/** @param {Browser} browser */
async function takeReadmePictures(browser) {
  const demo = await startDemo();
  await pause(WARM_UP_MS);
  mkdirSync(README_FOLDER, { recursive: true });
  for (const { name, path, theme } of README_PICTURES) {
    const context = await openContext(browser, demo, { width: 1440, theme });
    await logIn(context, demo);
    const file = join(README_FOLDER, `${name}.png`);
    await take(context, path, file);
    await context.close();
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes: ${MAX_BYTES} are allowed.`);
  }
}

/** @param {Browser} browser @param {string} target */
async function takeEveryScreen(browser, target) {
  mkdirSync(target, { recursive: true });
  const full = await startFullDemo();
  try {
    const { address: url, password, admin } = full;
    await pause(WARM_UP_MS);
    const context = await openContext(browser, { url }, { width: 1440, theme: 'light' });
    await lengthenNames(context);
    const page = await context.newPage();
    if (OUTSIDE.includes(only)) await takeInEveryLook(page, OUTSIDE, target);
    await logIn(context, { url, password, email: admin.email });
    for (const path of await everyScreen(page)) {
      if (path.includes(only)) await takeInEveryLook(page, path, target);
    }
    await context.close();
  } finally {
    await full.stop();
  }
}

/** @param {Page} page @param {string} path @param {string} target */
async function takeInEveryLook(page, path, target) {
  await open(page, path, { isWhole: true });
  const looks = WIDTHS.flatMap((width) =>
    BOTH_THEMES.includes(width)
      ? [
          { width, theme: LIGHT },
          { width, theme: DARK },
        ]
      : [{ width, theme: LIGHT }],
  );
  for (const { width, theme } of looks) {
    await page.setViewportSize({ width, height: HEIGHTS[width] });
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, font] of Object.entries(FONTS)) {
      await page.evaluate(useFont(font));
      const file = join(target, `${nameOf(path)}-${width}-${theme}-${name}.png`);
      await page.screenshot({ path: file, fullPage: true });
    }
  }
  console.log(path);
}

/** @param {Browser} browser @param {{ url: string }} demo @param {Look} look */
function openContext(browser, { url: baseURL }, { width, theme }) {
  return browser.newContext({
    baseURL,
    viewport: { width, height: HEIGHTS[width] },
    deviceScaleFactor: 1,
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
}

/**
 * The context's pages share its cookies.
 * @param {Context} context @param {Demo} demo
 */
async function logIn(context, { url, email, password }) {
  const answer = await context.request.post('/api/console/v1/session', {
    headers: { origin: url },
    data: { email, password },
  });
  if (!answer.ok())
    throw new Error(`the log-in answered ${answer.status()}: ${await answer.text()}`);
}

/** @param {Context} context @param {string} path @param {string} file */
async function take(context, path, file) {
  const page = await context.newPage();
  await open(page, path, { isWhole: false });
  await page.screenshot({ path: file });
  await page.close();
  console.log(`${file} ${Math.ceil(statSync(file).size / 1024)} KB`);
}

/**
 * A whole page that shows no heading is taken all the same: it is there to be looked at.
 * @param {Page} page @param {string} path @param {{ isWhole: boolean }} picture
 */
async function open(page, path, { isWhole }) {
  try {
    await page.goto(path);
    await page.locator('main h1').first().waitFor({ timeout: HEADING_MS });
  } catch (error) {
    if (!isWhole) throw error;
    console.error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await page.waitForLoadState('networkidle', { timeout: CALM_MS }).catch(() => {});
  await page.evaluate('document.fonts.ready');
}

/** `/jobs/01J…` → `jobs-one`. @param {string} screen */
function nameOf(screen) {
  return screen.replace(ID, '/one').slice(1).replaceAll('/', '-') || 'home';
}
