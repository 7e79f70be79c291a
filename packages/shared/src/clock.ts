/**
 * The only place that reads the wall clock. Programs get a clock where they are assembled, and
 * tests pass one that they move. Durations are measured with `performance.now()`, which never
 * leaves the process.
 */
export interface Clock {
  /** Wall clock in Unix ms. It can be set back. */
  readonly now: () => number;
  /** Monotonic, in ms since the start of the process. */
  readonly steady: () => number;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
};
