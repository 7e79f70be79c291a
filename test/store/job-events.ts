/** Applies an event of the job chart to a job in a store. */
import type { JobEvent } from '@inference-gateway/coordinator/core/jobs/job';
import type { JobChange } from '@inference-gateway/coordinator/core/jobs/transition';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { LEASE_MS, heldBy, laneOf, newClaim, newFinish } from './dispatch-rows.js';
import { BROKEN, ROOMY, LINK_ID } from './job-rows.js';

export interface EventTarget {
  readonly jobId: string;
  /** The claim that the event names; for `claim`, the new one. */
  readonly claimId: string;
  readonly providerId: string;
  readonly now: number;
}

type Effect = (store: Store, target: EventTarget) => Promise<unknown>;

export const EFFECTS: Readonly<Record<JobEvent, Effect>> = {
  claim: (store, { jobId, claimId, providerId, now }) =>
    store.claimJobs([newClaim(jobId, { claimId, providerId, leaseUntil: now + LEASE_MS })], now),
  accept: (store, { claimId, now }) => store.acceptJob(heldBy(claimId), now + LEASE_MS, now),
  renew: (store, { claimId, providerId, now }) =>
    store.renewClaims(
      { providerId, linkId: LINK_ID, claimIds: [claimId], leaseUntil: now + LEASE_MS },
      now,
    ),
  release: (store, { claimId, now }) =>
    store.releaseJob({ claimId, linkId: LINK_ID, counts: false, error: BROKEN, random: 0 }, now),
  resume: (store, { claimId, providerId, now }) =>
    store.resumeClaims(
      {
        providerId,
        linkId: LINK_ID,
        claimIds: [claimId],
        leaseUntil: now + LEASE_MS,
        random: 0,
      },
      now,
    ),
  finish: (store, { claimId, now }) => store.finishJob(newFinish(claimId), now),
  fail: (store, { claimId, now }) =>
    store.failJob({ claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0 }, now),
  give_up: (store, { claimId, now }) =>
    store.failJob({ claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0 }, now),
  expire: async (store, { jobId, now }) => {
    const lane = await laneOf(store, jobId);
    const request = { queuedBefore: now, error: BROKEN, limit: 1_000 };
    return lane && store.expireJobs({ ...request, laneKey: lane.key }, now);
  },
  cancel: (store, { jobId, now }) => store.cancelJob(jobId, null, now),
  retry: (store, { jobId, now }) => store.retryJob(jobId, null, ROOMY, now),
};

/** The same event in the form that `transition` takes. */
export function changeOf(event: JobEvent, { claimId, providerId, now }: EventTarget): JobChange {
  const lease = { linkId: LINK_ID, leaseUntil: now + LEASE_MS };
  switch (event) {
    case 'claim':
      return { event, claimId, providerId, serviceId: 'llm-1', ...lease };
    case 'resume':
    case 'renew':
      return { event, ...lease };
    case 'accept':
      return { event, runDeadline: now + LEASE_MS };
    case 'release':
      return { event, counts: false, error: BROKEN };
    case 'fail':
    case 'give_up':
      return { event: 'fail', retryable: event === 'fail', error: BROKEN };
    case 'expire':
      return { event, error: BROKEN };
    default:
      return { event };
  }
}
