/** A page whose requests are refused or held back for a while. */
import type { Page } from 'playwright-core';
import { expectProblem } from './page-problems.js';

/**
 * Answers requests for `url` with 503 and this message until the test presses "Try again" on the
 * page; the page's own retries before that are refused too.
 */
export async function refuseUntilRetry(
  page: Page,
  url: string | RegExp,
  message: string,
): Promise<void> {
  expectProblem(page, /503/);
  // For the current page and for later ones.
  await page.evaluate(WATCH_BUTTON);
  await page.addInitScript(WATCH_BUTTON);
  const error = { message, type: 'server_error', code: 'storage_unavailable', param: null };
  await page.route(url, async (route) => {
    const isRetried = await page.evaluate<boolean>('window.isRetried === true');
    await (isRetried ? route.continue() : route.fulfill({ status: 503, json: { error } }));
  });
}

const WATCH_BUTTON = `addEventListener('click', ({ target }) => {
  window.isRetried ||= target.closest('button')?.textContent.includes('Try again') === true;
}, { capture: true });`;

/** Requests for `url` wait until the returned function is called. */
export async function holdBack(page: Page, url: string): Promise<() => void> {
  let release: () => void;
  const released = new Promise<void>((done) => {
    release = done;
  });
  await page.route(url, async (route) => {
    await released;
    await route.continue();
  });
  return () => release();
}
