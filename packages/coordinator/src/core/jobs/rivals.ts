/**
 * Who stands before a queued job. Jobs for a model of the same name that run on machines which its
 * caller may not use are neither in its way nor its caller's business.
 */
import { grantOf } from '../access/access.js';
import type { Choice } from '../routing/match.js';

/** How many runnable jobs of one member stand before a job. */
export interface Ahead {
  readonly memberId: string;
  readonly jobs: number;
}

export interface Place {
  /** Jobs that come before it. */
  readonly before: number;
  /** Of these, its own caller's. */
  readonly ownBefore: number;
}

/** `candidates` are those that the job may run on. */
export function placeAmong(
  memberId: string,
  ahead: readonly Ahead[],
  candidates: readonly Choice[],
): Place {
  const rivals = ahead.filter(
    (one) => one.memberId === memberId || candidates.some((choice) => mayUse(one.memberId, choice)),
  );
  const own = rivals.find((one) => one.memberId === memberId);
  const before = rivals.reduce((sum, { jobs }) => sum + jobs, 0);
  return { before, ownBefore: own?.jobs ?? 0 };
}

function mayUse(memberId: string, choice: Choice): boolean {
  const { serviceId, foreign, model } = choice;
  return (
    grantOf({ memberId, scope: 'any' }, choice, { serviceId, foreign, model: model.id }) !== null
  );
}
