/**
 * A lane holds the queued jobs that the matcher cannot tell apart: what one of them can run on, all
 * can. So whoever looks at the first job of every lane has looked at all jobs, and a job that
 * nobody can run now never hides one that somebody can.
 */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ProviderScope } from '../access/caller.js';
import type { Needs, Choice } from '../routing/match.js';
import { grantOf } from '../access/access.js';

export interface Lane {
  readonly serviceType: ServiceType;
  readonly model: string;
  readonly memberId: string;
  readonly scope: ProviderScope;
  readonly needs: Needs;
  /** Providers that gave the job back moments ago: they are not asked for a while. */
  readonly excluded: readonly string[];
  /** Providers that have failed the job: they are asked only where no other is online. */
  readonly avoided: readonly string[];
}

/** A queued job, as far as the choice of the next one needs it. */
export interface QueuedJob {
  readonly id: string;
  readonly endpoint: EndpointKey;
  /** Smaller ones come first. */
  readonly fairKey: number;
  readonly queuedAt: number;
  /** Of its request. */
  readonly bodyBytes: number;
}

/** The first jobs of a lane, in their order. */
export interface LaneHead {
  /** Unique for the lane; opaque. */
  readonly key: string;
  readonly lane: Lane;
  readonly jobs: readonly QueuedJob[];
}

// Who stands before a queued job. Jobs for a model of the same name that run on machines which its
// caller may not use are neither in its way nor its caller's business.

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
