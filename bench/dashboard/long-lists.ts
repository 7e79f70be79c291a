/** Long lists in a browser: how soon their first row is drawn, and whether they scroll smoothly. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { BenchBrowser, Opened } from './bench-browser.js';
import type { DashboardRound } from './dashboard-round.js';
import type { FullGateway } from './full-gateway.js';

interface LongList {
  readonly path: string;
  /** The button that adds rows; it goes when all are there, or as many as the page shows. */
  readonly more: string;
}

export const LONG_LISTS = {
  jobs: { path: '/jobs', more: 'Load more' },
  models: { path: '/models', more: 'Show more' },
} as const satisfies Record<string, LongList>;

const FIRST_ROW = `document.querySelector('main tbody tr') !== null`;
/** Of rows that come a hundred at a time: more than any list shows. */
const MAX_CLICKS = 20;
const WHEEL_PX = 400;
const FRAME_MS = 16;

export async function longListsPhase(round: DashboardRound, gateway: FullGateway): Promise<void> {
  const { browser, size } = round;
  if (browser === null) return;
  for (const [name, list] of Object.entries(LONG_LISTS)) {
    round.say(`the list of ${name} in a browser`);
    for (let i = 0; i < size.openings; i++)
      await openOnce({ ...round, browser }, gateway, {
        name,
        ...list,
      });
  }
}

type WithBrowser = DashboardRound & { readonly browser: BenchBrowser };

async function openOnce(
  { browser, samples }: WithBrowser,
  { origin, session }: FullGateway,
  { name, path, more }: LongList & { readonly name: string },
): Promise<void> {
  const add = (metric: string, value: number): void =>
    samples.add('gateway', `list.${name}.${metric}`, value);
  const opened = await browser.open({ url: `${origin}${path}`, session, isDrawn: FIRST_ROW });
  add('drawn', opened.drawnMs);
  add('drawn.task', await opened.longestTask());
  const moreAt = await nowMs(opened.page);
  await showAll(opened.page, more);
  add('more.task', await opened.longestTask(moreAt));
  add('rows', await opened.page.locator('main tbody tr').count());
  add('scroll.task', await scroll(opened));
  await opened.close();
}

async function showAll(page: Page, more: string): Promise<void> {
  const rows = page.locator('main tbody tr');
  const button = page.getByRole('button', { name: more });
  for (let i = 0; i < MAX_CLICKS && (await button.count()) > 0; i++) {
    const before = await rows.count();
    await button.click();
    await rows.nth(before).waitFor();
  }
}

/** From the top to the bottom with the wheel; the longest task meanwhile. */
async function scroll({ page, longestTask }: Opened): Promise<number> {
  await page.mouse.move(720, 450);
  await page.evaluate('scrollTo(0, 0)');
  const startedAt = await nowMs(page);
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  for (let y = 0; y < height; y += WHEEL_PX) {
    await page.mouse.wheel(0, WHEEL_PX);
    await pause(FRAME_MS);
  }
  if ((await page.evaluate<number>('scrollY')) < height / 2) {
    throw new Error(`${page.url()} did not scroll: its ${height} px are elsewhere`);
  }
  return longestTask(startedAt);
}

function nowMs(page: Page): Promise<number> {
  return page.evaluate<number>('performance.now()');
}
