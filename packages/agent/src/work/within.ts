/** Waits, but not for ever. */

/** Some 24 days: a timer that is set to more fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Whether it came to pass within the time. */
export async function within(timeoutMs: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(timeoutMs, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([done.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
