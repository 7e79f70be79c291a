/** A page whose coordinator does not answer for a while. */
import type { Page } from 'playwright-core';
import { expectProblem } from './page-problems.js';

/**
 * Requests for the address are answered 503 with this message, until somebody presses "Try again"
 * on the page: what it asks by itself meanwhile does not bring the answer sooner.
 */
export async function refuseUntilRetry(
  page: Page,
  url: string | RegExp,
  message: string,
): Promise<void> {
  expectProblem(page, /503/);
  // For the page that is open, and for those to come.
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
