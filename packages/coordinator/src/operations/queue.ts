import * as z from 'zod';
import type { Links } from '../core/routing/links.js';
import { isStalled } from '../core/jobs/waiting-reason.js';
import type { ModelQueue } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';

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
