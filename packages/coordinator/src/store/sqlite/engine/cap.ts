import type { Database } from 'better-sqlite3';
import type { CapReached } from '../../port.js';

/**
 * Checks a cap inside the writing operation, so that parallel operations, also of several
 * coordinators, cannot exceed it. `from` selects the rows that count.
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
