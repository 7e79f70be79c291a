/** Waits, but not for ever. */

/** Whether it came to pass within the time. */
export async function within(timeoutMs: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([done.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
