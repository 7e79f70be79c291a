/**
 * A tab of the dashboard, as far as the coordinator can tell: it asks what the screen asks, as
 * often, with the same headers, and listens to the same hints. The page's own rules are in
 * `packages/coordinator/web/src/api/snapshot.ts`.
 */
import { WebSocket } from 'ws';
import type { Browser } from './tab-browser.js';
import { TabSnapshot } from './tab-snapshot.js';
import type { Asked } from './tab-snapshot.js';

const CONSOLE = '/api/console/v1';
const QUEUE = '/api/inference/queue/summary';

/** What each screen asks; a hinted topic also slows its rounds down. */
const SCREENS = {
  home: [
    { path: `${CONSOLE}/my/home.show`, everyMs: 2_000, topics: ['jobs'] },
    { path: QUEUE, everyMs: 5_000, topics: [] },
  ],
  queue: [
    { path: QUEUE, everyMs: 2_000, topics: ['queue', 'jobs', 'providers'] },
    // For a member without waiting jobs.
    { path: `${CONSOLE}/my/queue.groups`, everyMs: 2_000, topics: ['jobs'] },
  ],
} as const satisfies Record<string, readonly Asked[]>;

export type Screen = keyof typeof SCREENS;

export class Tab {
  readonly #browser: Browser;
  readonly #snapshots: readonly TabSnapshot[];
  #socket: WebSocket | null = null;
  #isLive = false;

  constructor(browser: Browser, screen: Screen) {
    this.#browser = browser;
    this.#snapshots = SCREENS[screen].map(
      (asked) => new TabSnapshot(browser, asked, () => this.#isLive),
    );
  }

  open(): void {
    const { origin, cookie, tally } = this.#browser;
    for (const snapshot of this.#snapshots) void snapshot.ask();
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/live`, {
      headers: { cookie, origin },
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('open', () => {
      this.#isLive = true;
      for (const snapshot of this.#snapshots) snapshot.hint();
    });
    socket.on('message', (data) => {
      tally.hints += 1;
      const { topic } = JSON.parse((data as Buffer).toString()) as { topic: string };
      for (const snapshot of this.#snapshots) if (snapshot.hears(topic)) snapshot.hint();
    });
    // The numbers of a tab that hears no hints would be those of another page.
    socket.on('close', () => {
      if (this.#isLive) tally.failed += 1;
    });
    socket.on('error', () => (tally.failed += 1));
  }

  close(): void {
    this.#isLive = false;
    for (const snapshot of this.#snapshots) snapshot.stop();
    this.#socket?.close();
  }
}
