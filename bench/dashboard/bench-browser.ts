/** Chromium, in which each page is opened as if it had never been there. */
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { repositoryFile } from '../processes.js';
import type { Session } from './members.js';

const VIEWPORT = { width: 1440, height: 900 };
/** A page that has not drawn the expected content by then has failed. */
const DRAWN_WITHIN_MS = 60_000;

interface Opening {
  readonly url: string;
  /** Null: not logged in. */
  readonly session: Session | null;
  /** JavaScript that is true once the page shows the expected content. */
  readonly isDrawn: string;
}

export interface Opened {
  readonly page: Page;
  /** From the navigation to the first frame that shows it. */
  readonly drawnMs: number;
  /** A long task keeps the page from answering: the longest from then on, 0 if there is none. */
  readonly longestTask: (sinceMs?: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface BenchBrowser {
  /** With an empty cache. */
  readonly open: (opening: Opening) => Promise<Opened>;
  readonly close: () => Promise<void>;
}

/** Null if there is no Chromium. */
export async function openBrowser(): Promise<BenchBrowser | null> {
  const script = pathToFileURL(repositoryFile('scripts/browsers.js')).href;
  const { findChromium } = (await import(script)) as { findChromium: () => string | null };
  const executablePath = findChromium();
  if (executablePath === null) return null;
  const browser = await chromium.launch({ executablePath });
  const open = async ({ url, session, isDrawn }: Opening): Promise<Opened> => {
    const context = await browser.newContext({ viewport: VIEWPORT });
    if (session !== null) await context.addCookies([{ ...session, url, httpOnly: true }]);
    const page = await context.newPage();
    await page.addInitScript(watch(isDrawn));
    await page.goto(url, { waitUntil: 'commit' });
    const drawnMs = await page.evaluate<number>(DRAWN);
    const longestTask = (sinceMs = 0): Promise<number> =>
      page.evaluate<number>(`Math.max(0, ...benchTasks
        .filter(({ startTime }) => startTime >= ${sinceMs}).map(({ duration }) => duration))`);
    return { page, drawnMs, longestTask, close: () => context.close() };
  };
  return { open, close: () => browser.close() };
}

/** Runs in the page before its own scripts. Times are ms since the navigation. */
function watch(isDrawn: string): string {
  return `
    window.benchTasks = [];
    new PerformanceObserver((list) => benchTasks.push(...list.getEntries()))
      .observe({ type: 'longtask', buffered: true });
    const look = () => requestAnimationFrame(() => {
      if (window.benchSeen) window.benchDrawnMs = performance.now();
      else {
        window.benchSeen = ${isDrawn};
        look();
      }
    });
    look();`;
}

const DRAWN = `new Promise((done, fail) => {
  const end = performance.now() + ${DRAWN_WITHIN_MS};
  const look = () => {
    if (window.benchDrawnMs !== undefined) done(window.benchDrawnMs);
    else if (performance.now() > end) fail(new Error('never drawn: ' + document.body.innerText));
    else setTimeout(look, 20);
  };
  look();
})`;
