import type { Database } from 'better-sqlite3';
import type { CapReached } from '../../port.js';

/**
 * Judges a cap inside the operation that is about to write, so that no number of operations at
 * once, of any number of coordinators, exceeds it. `from` selects the rows that count.
 */
export function capReader(
  database: Database,
  from: string,
): (cap: number | null | undefined, parameters: object) => CapReached | null {
  const countOf = database.prepare<object, number>(`select count(*) from ${from}`).pluck();
  return (cap, parameters) => {
    if (cap === null || cap === undefined) return null;
    const count = countOf.get(parameters) ?? 0;
    return count < cap ? null : { kind: 'full', count };
  };
}
