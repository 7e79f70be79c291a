/** A time as text inside a chunk. The monotonic clock is one for all processes of a machine. */

const STAMP = /t(\d+);/;
const LAST_STAMP = /t(\d+);(?!.*t\d+;)/;

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

export function stampNow(): string {
  return `t${nowUs()};`;
}

/** Milliseconds since the stamp in an event was written; null if the event has none. */
export function stampAgeMs(event: string): number | null {
  const stamp = STAMP.exec(event)?.[1];
  return stamp === undefined ? null : (nowUs() - Number(stamp)) / 1_000;
}

/** Milliseconds between the first and the last stamp in a text; null if it has none. */
export function stampSpanMs(text: string): number | null {
  const [first, last] = [STAMP.exec(text)?.[1], LAST_STAMP.exec(text)?.[1]];
  if (first === undefined || last === undefined) return null;
  return (Number(last) - Number(first)) / 1_000;
}
