import * as z from 'zod';
import { expectedEnds } from '../core/jobs/expected-end.js';
import type { Runner } from '../core/jobs/expected-end.js';
import { mayUse } from '../core/jobs/lane.js';
import type { Links } from '../core/routing/links.js';
import { capableCandidates, NO_NEEDS, takesWork } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import { isStalled } from '../core/jobs/waiting-reason.js';
import type { JobGroup, JobGroups, ModelQueue } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';

const nothing = z.strictObject({});

export const summarizeQueue = adminRead(nothing, async (context) => {
  const { store, links, jobActions, now } = context;
  const queues = await store.modelQueues(null);
  const queued = sum(queues.map((queue) => queue.queued));
  const oldest = queues.flatMap(({ oldestQueuedAt }) => oldestQueuedAt ?? []);
  return {
    async_enabled: context.asyncEnabled,
    paused: await store.isQueuePaused(),
    queued,
    processing: sum(queues.map(({ processing }) => processing)),
    oldest_queued_at: oldest.length === 0 ? null : Math.min(...oldest),
    last_tick_at: jobActions.lastTickAt,
    // Nothing is dispatched if it is not enabled, even though the ticks continue.
    worker_stalled: isStalled(queued, context.asyncEnabled ? jobActions.lastTickAt : null, now()),
    by_model: queues.map((queue) => present(queue, links)),
  };
});

/** The state is stored, so that it survives a restart. */
export const pauseQueue = adminChange(nothing, async ({ jobActions, by }) => {
  await jobActions.setPaused(true, by);
  return { paused: true };
});

export const resumeQueue = adminChange(nothing, async ({ jobActions, by }) => {
  await jobActions.setPaused(false, by);
  return { paused: false };
});

export const requeueStuck = adminChange(nothing, async ({ store, jobActions }) => {
  const requeued = await jobActions.requeueStuck();
  if (requeued > 0) {
    const change = { before: null, after: { requeued } };
    await store.recordAudit({ action: 'queue.requeue', subject: QUEUE, ...change });
  }
  return { requeued };
});

/** The queue as a subject of the audit log: there is only one. */
const QUEUE = { kind: 'queue', id: 'queue', name: 'queue' } as const;

function present(queue: ModelQueue, links: Links | null) {
  const { serviceType, model } = queue;
  const candidates = links?.candidates(serviceType, model) ?? [];
  const online = candidates.filter((candidate) => candidate.online);
  return {
    model,
    service_type: serviceType,
    queued: queue.queued,
    running: queue.processing,
    oldest_queued_at: queue.oldestQueuedAt,
    slots: sum(online.map(({ slots }) => slots)),
    providers_online: new Set(online.map(({ providerId }) => providerId)).size,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

// The groups of a member's jobs.

/** Groups with the oldest jobs come first. */
const MAX_GROUPS = 100;

/** Jobs of the member that wait or run, by batch and model, with a reason and an end for each. */
export async function showGroups(context: AdminContext, memberId: string) {
  const { store, jobActions, asyncEnabled } = context;
  const [found, paused] = await Promise.all([
    store.jobGroups(memberId, MAX_GROUPS),
    store.isQueuePaused(),
  ]);
  const next = found.groups.flatMap((group) => group.next ?? []);
  const waiting = await jobActions.waiting(next);
  const isStopped = paused || !asyncEnabled;
  const ends = isStopped ? new Map<JobGroup, number | null>() : endsOf(context, memberId, found);
  return {
    total: found.total,
    groups: found.groups.map((group) => {
      const { batchId, label, serviceType, queued, processing, oldestQueuedAt } = group;
      const endMs = ends.get(group) ?? null;
      return {
        batch: batchId,
        label,
        model: group.model,
        service_type: serviceType,
        queued,
        running: processing,
        oldest_queued_at: oldestQueuedAt,
        waiting_reason: waiting.get(group.next?.id ?? '')?.reason ?? null,
        /** Seconds from now, rounded up; null if nothing is measured or nothing starts. */
        ends_in_s: endMs === null ? null : Math.ceil(endMs / 1_000),
      };
    }),
  };
}

/** One line for each model of the member's jobs. */
function endsOf(context: AdminContext, memberId: string, { groups, loads }: JobGroups) {
  const ends = new Map<JobGroup, number | null>();
  for (const first of new Map(groups.map((group) => [nameOf(group), group])).values()) {
    const own = groups.filter((group) => nameOf(group) === nameOf(first));
    const choices = choicesOf(context, memberId, first);
    // Members who use other machines do not delay it, and must not be noticed.
    const here = loads.filter(
      (load) =>
        nameOf(load) === nameOf(first) &&
        (load.memberId === memberId || choices.some((choice) => mayUse(load.memberId, choice))),
    );
    const others = here.filter((load) => load.memberId !== memberId).map(({ queued }) => queued);
    const running = sum(here.map(({ processing }) => processing));
    const times = expectedEnds({ groups: own, others, running }, runnersOf(choices));
    for (const [index, group] of own.entries()) ends.set(group, times[index] ?? null);
  }
  return ends;
}

function nameOf({ serviceType, model: id }: Pick<JobGroup, 'serviceType' | 'model'>): string {
  return `${serviceType} ${id}`;
}

/** Providers that the member may use for the model. */
function choicesOf({ links }: AdminContext, memberId: string, group: JobGroup) {
  const candidates = links?.candidates(group.serviceType, group.model) ?? [];
  const caller = { memberId, scope: 'any' } as const;
  return capableCandidates(candidates, { caller, needs: NO_NEEDS });
}

/** Those that take jobs of the member now. */
function runnersOf(choices: readonly Choice[]): Runner[] {
  return choices
    .filter((one) => takesWork(one) && one.health !== 'open')
    .map(({ pace, failureShare }) => ({ callMs: pace.callMs, failureShare }));
}
