/** One answer that a tab keeps fresh: the page's `Source`, for a tab that is always looked at. */
import { ask } from './tab-browser.js';
import type { Browser } from './tab-browser.js';

/** As in the page. */
const HINTED_FACTOR = 5;
const HINT_MS = 150;

export interface Asked {
  readonly path: string;
  readonly everyMs: number;
  readonly topics: readonly string[];
}

export class TabSnapshot {
  readonly #browser: Browser;
  readonly #asked: Asked;
  readonly #isLive: () => boolean;
  #etag: string | null = null;
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #hint: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(browser: Browser, asked: Asked, isLive: () => boolean) {
    this.#browser = browser;
    this.#asked = asked;
    this.#isLive = isLive;
  }

  hears(topic: string): boolean {
    return this.#asked.topics.includes(topic);
  }

  hint(): void {
    clearTimeout(this.#hint);
    this.#hint = setTimeout(() => void this.ask(), HINT_MS);
  }

  /** One more after the one under way. */
  async ask(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#asking;
    if (this.#isStopped) return;
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = null;
      this.#plan();
    });
    await this.#asking;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#hint);
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const { everyMs, topics } = this.#asked;
    const isSlow = topics.length > 0 && this.#isLive();
    this.#timer = setTimeout(() => void this.ask(), isSlow ? everyMs * HINTED_FACTOR : everyMs);
  }

  async #fetch(): Promise<void> {
    const answer = await ask(this.#browser, this.#asked.path, this.#etag);
    if (answer !== null) this.#etag = answer.etag;
  }
}
