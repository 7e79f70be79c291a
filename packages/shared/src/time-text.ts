/** Spans of time for people, the same in tables of the command line and on the dashboard. */

const UNITS = [
  { unit: 's', ms: 1_000, count: 60 },
  { unit: 'min', ms: 60_000, count: 60 },
  { unit: 'h', ms: 3_600_000, count: 24 },
] as const;

const DAY_MS = 86_400_000;

/** How long ago, rounded down: `59 s`, `3 min`, `2 h`, `5 d`. */
export function pastText(ms: number): string {
  return inOneUnit(Math.max(0, ms), Math.floor);
}

/** How long until, rounded up: nothing ends later than it says. */
export function leftText(ms: number): string {
  return inOneUnit(Math.max(0, ms), Math.ceil);
}

function inOneUnit(ms: number, round: (amount: number) => number): string {
  for (const { unit, ms: unitMs, count } of UNITS) {
    const amount = round(ms / unitMs);
    if (amount < count) return `${amount} ${unit}`;
  }
  return `${round(ms / DAY_MS)} d`;
}
