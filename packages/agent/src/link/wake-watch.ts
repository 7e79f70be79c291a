/** Notices that the machine slept: a timer of seconds that comes late by many. */

const TICK_MS = 5_000;
const SLEPT_MS = 15_000;

/** Calls back after a wake-up. Returns how to stop watching. */
export function onWakeUp(wokeUp: () => void): () => void {
  let tickAt = Date.now();
  const timer = setInterval(() => {
    const lateMs = Date.now() - tickAt - TICK_MS;
    tickAt = Date.now();
    if (lateMs > SLEPT_MS) wokeUp();
  }, TICK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
