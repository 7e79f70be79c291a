/**
 * Notifications of the browser while the page is hidden: ended jobs and batches, and new notices of
 * the Home screen. One tab of a browser looks for all of them. Loaded where they are switched on.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { BATCHES, JOBS, isActive, shownOf } from '../api/jobs.js';
import type { Batch, FileBatch, Job } from '../api/jobs.js';
import { readMy } from '../api/commands.js';
import type { MyResult } from '../api/commands.js';
import { onTopic } from '../api/live.js';
import { requestJson } from '../api/request.js';
import { plural } from '../ui/text/format.js';
import { statusLabel, toldText } from '../ui/text/labels.js';

/** A hint may come with every token of a busy gateway. */
const MIN_PAUSE_MS = 5_000;

/** What causes no hint, such as a GPU that is offline for a while, is seen after this time. */
const EVERY_MS = 60_000;

/** The latest of each; more do not end within one pause of a household. */
const MAX_JOBS = 100;
const MAX_BATCHES = 20;

interface Seen {
  readonly jobs: readonly Job[];
  readonly batches: readonly (Batch | FileBatch)[];
  readonly notices: MyResult<'home.show'>['attention'];
}

export interface Notice {
  /** The same notice of another tab or an earlier look replaces it. */
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly href: string;
}

/** Looks until the returned function ends it. `open` shows an address of the page. */
export function startNotifications(open: (href: string) => void): () => void {
  const leaving = new AbortController();
  const { signal } = leaving;
  const untilEnd = (): Promise<void> => {
    const stop = startLooking(open);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(stop()), { once: true });
    });
  };
  // The lock is given to one tab at a time, and to the next one when that tab is closed.
  navigator.locks.request('notifications', { signal }, untilEnd).catch(() => undefined);
  return () => leaving.abort();
}

function startLooking(open: (href: string) => void): () => void {
  let before: Seen | null = null;
  let lookedAt = -Infinity;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const plan = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms);
  };
  const look = async (): Promise<void> => {
    lookedAt = performance.now();
    const now = await read();
    if (isOver) return;
    if (before !== null && now !== null && document.hidden) {
      for (const notice of newNotices(before, now)) show(notice, open);
    }
    before = now ?? before;
    plan(EVERY_MS);
  };
  const hinted = (): void => plan(Math.max(0, lookedAt + MIN_PAUSE_MS - performance.now()));
  const stops = [onTopic('jobs', hinted), onTopic('providers', hinted)];
  void look();
  return () => {
    isOver = true;
    for (const stop of stops) stop();
    clearTimeout(timer);
  };
}

/** Null if the coordinator does not answer now. */
async function read(): Promise<Seen | null> {
  try {
    const [jobs, batches, home] = await Promise.all([
      requestJson<{ readonly data: readonly Job[] }>(`${JOBS}?limit=${MAX_JOBS}`),
      requestJson<{ readonly data: readonly (Batch | FileBatch)[] }>(
        `${BATCHES}?limit=${MAX_BATCHES}`,
      ),
      readMy('home.show', { day: false }),
    ]);
    return { jobs: jobs.data, batches: batches.data, notices: home.attention };
  } catch {
    return null;
  }
}

/** What has ended, and which notices are new. Jobs of a batch are told with their batch. */
export function newNotices(before: Seen, now: Seen): readonly Notice[] {
  return [...endedJobs(before, now), ...endedBatches(before, now), ...newAttention(before, now)];
}

function endedJobs(before: Seen, now: Seen): readonly Notice[] {
  const known = new Map(before.jobs.map((job) => [job.id, job]));
  const newest = Math.max(0, ...before.jobs.map(({ created }) => created));
  const isNews = ({ id, created }: Job): boolean => {
    const earlier = known.get(id);
    return earlier === undefined ? created >= newest : isActive(earlier);
  };
  const ended = now.jobs.filter((job) => job.batch_id === null && !isActive(job) && isNews(job));
  const [first] = ended;
  if (first === undefined) return [];
  if (ended.length > 1) {
    const failed = ended.filter(({ status }) => status === 'FAILED').length;
    const text = failed === 0 ? 'None of them failed.' : `${failed} of them failed.`;
    const title = `${plural(ended.length, 'job')} ended`;
    return [{ tag: `jobs ${first.id}`, title, text, href: '/jobs' }];
  }
  const title = `Job ${statusLabel(first.status).toLowerCase()}`;
  return [{ tag: `job ${first.id}`, title, text: first.model, href: `/jobs/${first.id}` }];
}

function endedBatches(before: Seen, now: Seen): readonly Notice[] {
  const ended = new Set(before.batches.filter(hasEnded).map(({ id }) => id));
  const known = new Set(before.batches.map(({ id }) => id));
  return now.batches
    .filter((batch) => known.has(batch.id) && !ended.has(batch.id) && hasEnded(batch))
    .map((batch) => {
      const { id, label, processed, failed } = shownOf(batch);
      const text = `${label ?? id}: ${processed} done, ${failed} failed`;
      return { tag: `batch ${id}`, title: 'Batch ended', text, href: `/batches/${id}` };
    });
}

function hasEnded(batch: Batch | FileBatch): boolean {
  const { total, processed, failed, canceled } = shownOf(batch);
  return total > 0 && processed + failed + canceled >= total;
}

function newAttention(before: Seen, now: Seen): readonly Notice[] {
  const known = new Set(before.notices.map(tagOf));
  return now.notices
    .filter((notice) => !known.has(tagOf(notice)) && notice.kind !== 'jobs_failed')
    .map((notice) => ({
      tag: tagOf(notice),
      title: 'Needs attention',
      text: toldText(notice.text, SYSTEM_CLOCK.now()),
      href: notice.href,
    }));
}

/** A limit that is near is no news again with each request that is counted against it. */
function tagOf({ kind, text, href }: Seen['notices'][number]): string {
  const told = kind === 'quota_near' ? text.replace(/used [\d,]+/, 'used') : text;
  return `${kind} ${href} ${told}`;
}

function show({ tag, title, text, href }: Notice, open: (href: string) => void): void {
  const shown = new Notification(title, { tag, body: text });
  shown.addEventListener('click', () => {
    window.focus();
    open(href);
    shown.close();
  });
}
