/** How V8 collects garbage and compiles in both programs, set while they run. */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/**
 * By how many percent the heap grows before a full collection while these are rare. More makes a
 * program larger by what small requests leave behind; with 30, a request took a third more CPU time
 * after streams had made the heap larger (`npm run bench -- relay`).
 */
const CALM_GROWTH_PERCENT = 70;
/** Full collections that follow each other faster are caused by forwarded bytes. */
const FREQUENT_MS = 500;
/** By then a program has started: without Maglev, Node compiles its own late modules anew. */
const STARTED_MS = 1_000;

/**
 * - One thread collects young objects: to share a few hundred kilobytes out among four took a tenth
 *   of the CPU time of a call.
 * - The heap grows by `busyPercent` while bytes are forwarded. They are buffers outside of the
 *   heap, which make V8 collect: with small heaps every 30 ms of an upload. With it an upload took
 *   a third of the CPU and was two and a half times as fast (`npm run bench -- media`).
 * - No Maglev, Node 24's additional compiler: it takes 40 MB at once, which stay with the
 *   allocator, and saves no CPU time of a request.
 */
export function tuneHeap(busyPercent: number): void {
  setFlagsFromString('--no-parallel-scavenge');
  setGrowth(CALM_GROWTH_PERCENT);
  growAsNeeded(busyPercent);
  setTimeout(() => setFlagsFromString('--no-maglev'), STARTED_MS).unref();
}

/** V8 reads the flag at the end of each full collection. */
function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

function growAsNeeded(busyPercent: number): void {
  let collectedAt = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!isFull(entry)) continue;
      const { startTime } = entry;
      setGrowth(startTime - collectedAt < FREQUENT_MS ? busyPercent : CALM_GROWTH_PERCENT);
      collectedAt = startTime;
    }
  }).observe({ entryTypes: ['gc'] });
}

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
