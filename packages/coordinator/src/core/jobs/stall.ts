/** When the queue has come to a standstill (specification, section 4, Queue summary). */

/** Longer than any tick takes. */
const STALLED_AFTER_MS = 60_000;

/** `lastTickAt` is null where no dispatcher has ticked yet, or none runs: then jobs only wait. */
export function isStalled(queued: number, lastTickAt: number | null, now: number): boolean {
  return queued > 0 && (lastTickAt === null || now - lastTickAt > STALLED_AFTER_MS);
}
