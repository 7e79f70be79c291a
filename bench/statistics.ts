/** Medians and percentiles of measured numbers. */

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
