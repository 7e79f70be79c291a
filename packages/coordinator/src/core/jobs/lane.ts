/**
 * A lane holds the queued jobs that are equal to the matcher: a provider that can run one of them
 * can run all. So looking at the first job of every lane is enough, and a job that no provider can
 * run now never blocks one that can run.
 */
import type { ApiName, EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ProviderScope } from '../access/caller.js';
import type { Needs, Choice } from '../routing/match.js';
import { grantOf } from '../access/access.js';

export interface Lane {
  readonly serviceType: ServiceType;
  readonly model: string;
  /** The alias under which the jobs were submitted; absent: their callers named the model. */
  readonly alias?: string;
  readonly memberId: string;
  readonly scope: ProviderScope;
  readonly needs: Needs;
  /** Providers that gave the job back moments ago: they do not get it for a while. */
  readonly excluded: readonly string[];
  /**
   * Providers that have failed the job: they get it only if no other is online. Under an alias, the
   * provider and the model that failed.
   */
  readonly avoided: readonly string[];
}

/** The fields of a queued job that the choice of the next one needs. */
export interface QueuedJob {
  readonly id: string;
  /** The key that submitted it. */
  readonly keyId: string;
  readonly endpoint: EndpointKey;
  /** The API in which it was requested; null for that of its endpoint. */
  readonly api: ApiName | null;
  /** Smaller keys come first. */
  readonly fairKey: number;
  readonly queuedAt: number;
  /** Size of the request. */
  readonly bodyBytes: number;
}

/** The first jobs of a lane, in order. */
export interface LaneHead {
  /** Unique for the lane; opaque. */
  readonly key: string;
  readonly lane: Lane;
  readonly jobs: readonly QueuedJob[];
}

/** The jobs of a lane that may run now. */
export interface OpenHead extends LaneHead {
  /** Under an alias: the models that may serve them, in the order in which they are tried. */
  readonly models?: readonly string[];
}

// The position of a queued job. Jobs for a model of the same name on machines that the caller may
// not use do not delay it, and the caller must not learn of them.

/** How many runnable jobs of one member come before a job. */
export interface Ahead {
  readonly memberId: string;
  readonly jobs: number;
}

export interface Place {
  /** Jobs that come before it. */
  readonly before: number;
  /** How many of these belong to the job's own caller. */
  readonly ownBefore: number;
}

/** `candidates` are the providers that the job may run on. */
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

/** Whether the member may use the model of this provider, which another one may have chosen. */
export function mayUse(memberId: string, choice: Choice): boolean {
  const { serviceId, foreign, model } = choice;
  return (
    grantOf({ memberId, scope: 'any' }, choice, { serviceId, foreign, model: model.id }) !== null
  );
}
