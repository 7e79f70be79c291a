import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = import.meta.resolve('@inference-gateway/shared/program/heap');

/** Full collections of a program that replaces 30 MB of objects thirty times. */
async function fullCollections(busyPercent: number): Promise<number> {
  const script = `
    import { tuneHeap } from '${MODULE}';
    import { constants, PerformanceObserver } from 'node:perf_hooks';
    import { setImmediate as turn } from 'node:timers/promises';
    tuneHeap(${busyPercent});
    let full = 0;
    new PerformanceObserver((list) => {
      const kinds = list.getEntries().map(({ detail }) => detail.kind);
      full += kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
    }).observe({ entryTypes: ['gc'] });
    const kept = [];
    for (let i = 0; i < 120_000; i++) {
      kept[i % 4096] = new Array(1000).fill(i + 0.5);
      if (i % 64 === 0) await turn();
    }
    console.log(full);
  `;
  const args = ['--input-type=module', '-e', script];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

test('a heap that is collected often grows by the percentage of a busy program', async () => {
  const [slow, fast] = [await fullCollections(70), await fullCollections(1_000)];
  expect(fast).toBeGreaterThan(0);
  expect(slow).toBeGreaterThan(2 * fast);
});
