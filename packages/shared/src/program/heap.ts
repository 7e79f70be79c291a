/** How both programs use memory. */
import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8's heap grow by so many percent before all of it is collected. Bytes that pass through are
 * buffers outside the heap, and V8 answers them by collecting: with a heap as small as these, that
 * was every 30 ms of an upload. Left alone, an upload took a third of the CPU and went two and a
 * half times as fast, and memory rose by 7 MiB in place of 30 (`npm run bench -- media`). More than
 * 200 makes the coordinator's memory rise over 100,000 small requests.
 */
export function tuneHeap(growingPercent: number): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}
