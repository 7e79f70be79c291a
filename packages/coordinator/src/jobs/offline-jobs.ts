/**
 * Job actions on a data folder whose coordinator is stopped: each is only an operation of the
 * store. An agent that still runs a canceled job is told when it reconnects.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Job, QueueLimits, QueuePosition, Store } from '../store/port.js';
import type { JobActions, Waiting } from './job-actions.js';

export function createOfflineJobs(store: Store, limits: QueueLimits, { now }: Clock): JobActions {
  return {
    findSubmitted: (memberId, key) => store.findSubmittedJob(memberId, key),
    findSubmittedBatch: (memberId, key) => store.findSubmittedBatch(memberId, key),
    submit: takesNothing,
    submitBatch: takesNothing,
    submitFileBatch: takesNothing,
    cancel: (jobId, memberId) => store.cancelJob(jobId, memberId, now()),
    async cancelBatch(batchId, memberId) {
      const canceled = await store.cancelBatch(batchId, memberId, now());
      return canceled?.batch ?? null;
    },
    retry: (jobId, memberId) => store.retryJob(jobId, memberId, limits, now()),
    waiting: (jobs) => waiting(store, jobs),
    // No job ends while the coordinator is stopped.
    whenEnded: () => Promise.resolve(),
    setPaused: (paused, by) => store.by(by).setQueuePaused(paused),
    requeueStuck: () => store.requeueStuck(now()),
    lastTickAt: null,
  };
}

function takesNothing(): Promise<never> {
  return Promise.reject(new Error('a job was submitted where no coordinator runs'));
}

async function waiting(store: Store, jobs: readonly Job[]): Promise<ReadonlyMap<string, Waiting>> {
  const ids = jobs.filter(({ status }) => status === 'QUEUED').map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const positions = await store.queuePositions(ids);
  const before = new Map(positions.map(({ jobId, ahead }) => [jobId, countOf(ahead)]));
  const reason = reasonOf(await store.isQueuePaused());
  return new Map(ids.map((id) => [id, { position: positionAfter(before.get(id)), reason }]));
}

/** Access is not checked here: an administrator sees the jobs of all members. */
function countOf(ahead: QueuePosition['ahead']): number {
  return ahead.reduce((sum, { jobs }) => sum + jobs, 0);
}

function positionAfter(before: number | undefined): number | null {
  return before === undefined ? null : before + 1;
}

function reasonOf(paused: boolean): string {
  return paused
    ? 'No coordinator is running, and the queue is paused by an administrator.'
    : 'No coordinator is running.';
}
