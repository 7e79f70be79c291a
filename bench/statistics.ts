/** Medians and percentiles of measured numbers. */

/** For the compiler and the caches; not counted. */
const WARM_READS = 3;

export function median(values: readonly number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Nearest rank of sorted values; NaN if there are none. */
function percentile(sorted: readonly number[], share: number): number {
  const rank = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return sorted[rank] ?? Number.NaN;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    p999: percentile(sorted, 0.999),
    max: percentile(sorted, 1),
  };
}

/** Milliseconds that a read takes, one after another. */
export async function timesOf(read: () => Promise<unknown>, reads: number): Promise<Percentiles> {
  const times: number[] = [];
  for (let i = -WARM_READS; i < reads; i++) {
    const startedAt = performance.now();
    await read();
    if (i >= 0) times.push(performance.now() - startedAt);
  }
  return percentilesOf(times);
}
