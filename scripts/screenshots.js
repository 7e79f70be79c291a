// Takes the pictures of README from a demo, in Chromium: `npm run screenshots`. With `--all DIR`
// every screen goes there, light and dark, narrow and wide, for a person to look at.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findChromium } from './browsers.js';
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
const HEIGHTS = { 360: 780, 1440: 900 };
const THEMES = /** @type {const} */ (['light', 'dark']);
const README_PICTURES = /** @type {const} */ ([
  { name: 'home-light', path: '/', theme: 'light' },
  { name: 'queue-dark', path: '/queue', theme: 'dark' },
]);

/** Those of everybody who is logged in; `:job` and the like are filled in. */
const SCREENS = [
  '/',
  '/queue',
  '/jobs',
  '/jobs/:job',
  '/batches',
  '/batches/:batch',
  '/playground',
  '/playground/image',
  '/playground/speech',
  '/playground/transcribe',
  '/playground/voice',
  '/playground/music',
  '/playground/video',
  '/models',
  '/providers',
  '/providers/:provider',
  '/network',
  '/usage',
  '/library',
  '/settings',
  '/settings/token',
  '/settings/aliases',
  '/settings/security',
  '/settings/notifications',
  '/settings/appearance',
  '/admin',
  '/admin/users',
  '/admin/aliases',
  '/admin/system',
  '/docs',
  '/docs/endpoints',
  '/docs/errors',
  '/device',
];
const OPEN_SCREENS = ['/login'];

/**
 * @typedef {import('playwright-core').Browser} Browser
 * @typedef {import('playwright-core').BrowserContext} Context
 * @typedef {{ url: string, email: string, password: string }} Demo
 * @typedef {{ width: 360 | 1440, theme: 'light' | 'dark' }} Look
 */

const { all } = parseArgs({ options: { all: { type: 'string' } } }).values;
/** @type {Browser | null} */
let browser = null;
try {
  browser = await chromium.launch({ executablePath: browserPath() });
  const demo = await startDemo();
  await pause(WARM_UP_MS);
  if (all === undefined) await takeReadmePictures(browser, demo);
  else await takeEveryScreen(browser, demo, all);
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

/** @param {Browser} browser @param {Demo} demo */
async function takeReadmePictures(browser, demo) {
  mkdirSync(README_FOLDER, { recursive: true });
  for (const { name, path, theme } of README_PICTURES) {
    const context = await openContext(browser, demo, { width: 1440, theme });
    await logIn(context, demo);
    const file = join(README_FOLDER, `${name}.png`);
    await take(context, path, { file, isWhole: false });
    await context.close();
    const { size } = statSync(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes: ${MAX_BYTES} are allowed.`);
  }
}

/** @param {Browser} browser @param {Demo} demo @param {string} target */
async function takeEveryScreen(browser, demo, target) {
  mkdirSync(target, { recursive: true });
  for (const theme of THEMES) {
    for (const width of /** @type {const} */ ([1440, 360])) {
      const context = await openContext(browser, demo, { width, theme });
      /** @param {string} path @param {string} screen */
      const shoot = async (path, screen) => {
        const file = join(target, `${nameOf(screen)}-${width}-${theme}.png`);
        await take(context, path, { file, isWhole: true });
      };
      for (const screen of OPEN_SCREENS) await shoot(screen, screen);
      await logIn(context, demo);
      const ids = await findIds(context);
      for (const screen of SCREENS) await shoot(filled(screen, ids), screen);
      await context.close();
    }
  }
}

/** @param {Browser} browser @param {Demo} demo @param {Look} look */
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

/**
 * A whole page that shows no heading is taken all the same: it is there to be looked at.
 * @param {Context} context @param {string} path @param {{ file: string, isWhole: boolean }} picture
 */
async function take(context, path, { file, isWhole }) {
  const page = await context.newPage();
  try {
    await page.goto(path);
    await page.locator('main h1').first().waitFor({ timeout: HEADING_MS });
  } catch (error) {
    if (!isWhole) throw error;
    console.error(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await page.waitForLoadState('networkidle', { timeout: CALM_MS }).catch(() => {});
  await page.evaluate('document.fonts.ready');
  await page.screenshot({ path: file, fullPage: isWhole });
  await page.close();
  console.log(`${file} ${Math.ceil(statSync(file).size / 1024)} KB`);
}

/** The newest of each. @param {Context} context @returns {Promise<Record<string, string>>} */
async function findIds(context) {
  const api = '/api/console/v1';
  return {
    job: await firstId(context, `${api}/jobs?status=PROCESSED&limit=1`),
    batch: await firstId(context, `${api}/batches?limit=1`),
    provider: await firstId(context, `${api}/my/provider.list`),
  };
}

/** @param {Context} context @param {string} path */
async function firstId(context, path) {
  const answer = await context.request.get(path);
  if (!answer.ok()) throw new Error(`GET ${path} answered ${answer.status()}.`);
  /** @type {{ id: string }[] | { data: { id: string }[] }} */
  const list = await answer.json();
  const first = (Array.isArray(list) ? list : list.data)[0];
  if (first === undefined) throw new Error(`GET ${path} lists nothing.`);
  return first.id;
}

/** @param {string} screen @param {Record<string, string>} ids */
function filled(screen, ids) {
  return screen.replace(/:(\w+)$/, (_, name) => ids[name] ?? '');
}

/** `/jobs/:job` → `jobs-job`. @param {string} screen */
function nameOf(screen) {
  return screen.slice(1).replaceAll(/[/:]+/g, '-') || 'home';
}
