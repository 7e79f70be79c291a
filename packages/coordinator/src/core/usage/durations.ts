/** Durations counted in buckets: such counts add up, and tell quantiles. */

/**
 * The highest whole milliseconds of each bucket, four to a power of ten; a further bucket is open.
 * The columns of `usage_periods` have their numbers: a change of this table is a migration.
 */
export const BUCKET_ENDS_MS = [
  1, 2, 3, 6, 10, 18, 32, 56, 100, 178, 316, 562, 1_000, 1_778, 3_162, 5_623, 10_000, 17_783,
  31_623, 56_234, 100_000, 177_828, 316_228, 600_000,
] as const;

/** With the open one. */
export const BUCKETS = BUCKET_ENDS_MS.length + 1;

/** How many durations were in each bucket. */
export type DurationCounts = readonly number[];

export function bucketOf(ms: number): number {
  const index = BUCKET_ENDS_MS.findIndex((end) => ms <= end);
  return index < 0 ? BUCKETS - 1 : index;
}

/**
 * The duration below or at which this share of the durations is, in ms; null if there are none.
 * It is interpolated within the bucket of the exact quantile (by nearest rank), evenly on the
 * logarithmic scale: above 1 ms, the larger of the two is at most twice the smaller; up to 1 ms
 * they differ by at most 1 ms. Beyond the last end it is that end, 10 minutes.
 */
export function quantileMs(counts: DurationCounts, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (before + count >= rank) return within(bucket, (rank - before - 0.5) / count);
    before += count;
  }
  return LAST_END_MS;
}

const LAST_END_MS = 600_000;

function within(bucket: number, position: number): number {
  const end = BUCKET_ENDS_MS[bucket];
  if (end === undefined) return LAST_END_MS;
  const start = BUCKET_ENDS_MS[bucket - 1];
  return start === undefined ? position * end : start * (end / start) ** position;
}
