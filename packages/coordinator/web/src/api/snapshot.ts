/**
 * The page shows the coordinator's last answer. `useSnapshot` polls while the tab is visible, with
 * at most one request at a time, and also asks at once after a hint, or when the tab becomes
 * visible. Unchanged data is answered with 304 and causes no rendering.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { useEffect, useMemo } from 'preact/hooks';
import { Cell, useCell } from './cell.js';
import { asFault } from './fault.js';
import type { Fault } from './fault.js';
import { isLive, onTopic } from './live.js';
import type { Topic } from './live.js';
import { request } from './request.js';
import { session } from './session.js';

const DEFAULT_EVERY_MS = 2_000;
/** Timeout of one request, after which polling continues. */
const ANSWER_MS = 20_000;
/**
 * While the WebSocket is open and requests succeed, polling of hinted data is slower by this
 * factor.
 */
const HINTED_FACTOR = 5;
/** Data that is older than this many polling intervals is marked. */
const STALE_ROUNDS = 3;
/** Snapshots kept after their last screen has closed, so that going back shows data at once. */
const MAX_KEPT = 50;
/** Hints within this time cause one request. */
const HINT_MS = 150;

export interface SnapshotOptions {
  /** The polling interval while the tab is visible. Null: asks once, and after hints. */
  readonly everyMs?: number | null;
  readonly topics?: readonly Topic[];
}

export interface Snapshot<T> {
  /** Undefined until the first answer. */
  readonly data: T | undefined;
  /** Why the last request failed; older data stays. */
  readonly fault: Fault | null;
  /** Unix ms of the last answer, if it is too old; else null. */
  readonly staleSince: number | null;
  /** Asks again now, as after a change. Resolves when the request has ended. */
  readonly refresh: () => Promise<void>;
}

/** If the address is null, nothing is requested. */
export function useSnapshot<T>(url: string | null, options: SnapshotOptions = {}): Snapshot<T> {
  const { everyMs = DEFAULT_EVERY_MS, topics = [] } = options;
  const source = useMemo(() => (url === null ? null : sourceOf(url)), [url]);
  // Before the effect below, which waits until the browser has painted.
  source?.begin();
  const heard = topics.join(' ');
  useEffect(() => {
    if (source === null) return undefined;
    const stops = topics.map((topic) => onTopic(topic, () => source.hint()));
    const watcher = { everyMs, isHinted: topics.length > 0 };
    source.watch(watcher);
    return () => {
      source.unwatch(watcher);
      for (const stop of stops) stop();
    };
  }, [source, everyMs, heard]);
  const state = useCell(source?.state ?? NOTHING);
  return {
    data: state.data as T | undefined,
    fault: state.fault,
    staleSince: state.staleSince,
    refresh: () => source?.ask() ?? Promise.resolve(),
  };
}

interface Watcher {
  /** Null: one answer is enough, apart from hints. */
  readonly everyMs: number | null;
  /** Whether the coordinator sends hints when this data may have changed. */
  readonly isHinted: boolean;
}

interface State {
  readonly data: unknown;
  readonly fault: Fault | null;
  readonly staleSince: number | null;
}

const UNKNOWN: State = { data: undefined, fault: null, staleSince: null };
const NOTHING = new Cell(UNKNOWN);

const sources = new Map<string, Source>();

/** Screens that show the same address share one source. */
function sourceOf(url: string): Source {
  const source = sources.get(url) ?? new Source(url);
  // Moves it to the end: the first one is the least recently used.
  sources.delete(url);
  sources.set(url, source);
  for (const [key, kept] of sources) {
    if (sources.size <= MAX_KEPT) break;
    if (!kept.isWatched) sources.delete(key);
  }
  return source;
}

// Another member who logs in must not see data of the former one.
session.watch(() => {
  if (session.value === null) sources.clear();
});

// Changes may have been missed while the WebSocket was closed.
isLive.watch(() => {
  for (const source of sources.values()) source.hint();
});

class Source {
  readonly state = new Cell(UNKNOWN);
  readonly #url: string;
  readonly #watchers = new Set<Watcher>();
  #etag: string | null = null;
  /** The first request. */
  #first: 'none' | 'begun' | 'watched' = 'none';
  #answeredAt = 0;
  #asking: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hint: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  watch(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) document.addEventListener('visibilitychange', this.#onSight);
    const isNews = this.#first !== 'begun';
    this.#first = 'watched';
    if (isNews) void this.ask();
    else if (this.#asking === null) this.#plan();
  }

  /** Asks for the first time, for a component that is being drawn and will watch. */
  begin(): void {
    if (this.#first !== 'none') return;
    this.#first = 'begun';
    void this.ask();
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.isWatched) return;
    document.removeEventListener('visibilitychange', this.#onSight);
    clearTimeout(this.#timer);
    clearTimeout(this.#hint);
  }

  hint(): void {
    clearTimeout(this.#hint);
    // A hidden tab polls when it becomes visible.
    if (!this.isWatched || document.visibilityState !== 'visible') return;
    this.#hint = setTimeout(() => void this.ask(), HINT_MS);
  }

  /**
   * Waits for the current request and then sends another one: the answer to the current one may be
   * older than the change.
   */
  async ask(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#asking;
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = null;
      this.#plan();
    });
    await this.#asking;
  }

  readonly #onSight = (): void => {
    if (document.visibilityState === 'visible') void this.ask();
    else clearTimeout(this.#timer);
  };

  #plan(): void {
    clearTimeout(this.#timer);
    const everyMs = this.#everyMs;
    if (everyMs === null || document.visibilityState !== 'visible') return;
    this.#timer = setTimeout(() => void this.ask(), everyMs);
  }

  /** The shortest interval of all watchers; null if none of them polls. */
  get #everyMs(): number | null {
    const isSteady = isLive.value && this.state.value.fault === null;
    const rounds = [...this.#watchers].flatMap(({ everyMs, isHinted }) =>
      everyMs === null ? [] : [isHinted && isSteady ? everyMs * HINTED_FACTOR : everyMs],
    );
    return rounds.length === 0 ? null : Math.min(...rounds);
  }

  async #fetch(): Promise<void> {
    try {
      const headers: HeadersInit = this.#etag === null ? {} : { 'If-None-Match': this.#etag };
      const signal = AbortSignal.timeout(ANSWER_MS);
      const response = await request(this.#url, { headers, signal });
      this.#answeredAt = SYSTEM_CLOCK.now();
      const isNew = response.status !== 304;
      const data = isNew ? ((await response.json()) as unknown) : this.state.value.data;
      this.#etag = response.headers.get('etag');
      this.#show({ data, fault: null, staleSince: null });
    } catch (thrown) {
      const limitMs = (this.#everyMs ?? DEFAULT_EVERY_MS) * STALE_ROUNDS;
      const isStale = this.#answeredAt > 0 && SYSTEM_CLOCK.now() - this.#answeredAt > limitMs;
      const staleSince = isStale ? this.#answeredAt : null;
      this.#show({ data: this.state.value.data, fault: asFault(thrown), staleSince });
    }
  }

  #show(next: State): void {
    const { data, fault, staleSince } = this.state.value;
    const isSame =
      next.data === data &&
      next.staleSince === staleSince &&
      next.fault?.message === fault?.message;
    if (!isSame) this.state.value = next;
  }
}
