import type { CapReached } from '../port.js';
import { valueOf } from './statement.js';
import type { Operation } from './statement.js';

type CapCheck = (
  cap: number | null | undefined,
  parameters: object,
) => Operation<CapReached | null>;

/**
 * Checks a cap inside the writing operation, so that parallel operations, also of several
 * coordinators, cannot exceed it. `from` selects the rows that count.
 */
export function capOn(from: string): CapCheck {
  const countOf = valueOf<object, number>(`select count(*) from ${from}`);
  return function* (cap, parameters) {
    if (cap === null || cap === undefined) return null;
    const count = (yield* countOf.get(parameters)) ?? 0;
    return count < cap ? null : { kind: 'full', count };
  };
}
