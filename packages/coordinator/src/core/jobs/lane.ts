/**
 * A lane holds the queued jobs that the matcher cannot tell apart: what one of them can run on, all
 * can. So whoever looks at the first job of every lane has looked at all jobs, and a job that
 * nobody can run now never hides one that somebody can.
 */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ProviderScope } from '../access/caller.js';
import type { Needs } from '../routing/match.js';

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
