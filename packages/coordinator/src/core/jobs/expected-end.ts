/**
 * When groups of queued jobs are expected to end. An estimate, which assumes that
 *
 * - a provider takes as long for a job as its last calls with the model took on average;
 * - its slots share its card, so that they do not make it faster (`crowding` in `pace.ts`);
 * - nothing joins or leaves the queue, and every provider stays as it is;
 * - each other member has one turn for each job of the group's member, also on the member's own
 *   machines: as these do the member's jobs first, they may end earlier.
 *
 * Jobs that run count as if they had just begun: the estimate is rather late than early.
 */

/** Jobs of one member that wait or run in the queue of one model. */
export interface QueuedGroup {
  readonly queued: number;
  /** Where its first and its last queued job stand in the queue (`fair_key`); 0 if none waits. */
  readonly firstKey: number;
  readonly lastKey: number;
}

/** The queue of one model, as one member sees it. */
export interface ModelLine<Group extends QueuedGroup> {
  readonly groups: readonly Group[];
  /** Of all members. */
  readonly running: number;
  /** The numbers of queued jobs of the other members, one each. */
  readonly others: readonly number[];
}

/** A provider that takes the member's jobs for the model now. */
export interface Runner {
  /** Average time of a whole call, without other work on its card; null: not measured yet. */
  readonly callMs: number | null;
  /** Share of failures in its last calls, 0 to 1. */
  readonly failureShare: number;
}

/**
 * Ms from now until the last job of each group ends, in the order of the groups. Null if no runner
 * is measured. Runners that are not measured do not count: with them, it ends earlier.
 */
export function expectedEnds<Group extends QueuedGroup>(
  line: ModelLine<Group>,
  runners: readonly Runner[],
): readonly (number | null)[] {
  const jobsPerMs = sum(runners.map(rateOf));
  return line.groups.map((group) =>
    jobsPerMs === 0 ? null : jobsUntilEndOf(group, line) / jobsPerMs,
  );
}

/** With the group's own last job. */
function jobsUntilEndOf<Group extends QueuedGroup>(group: Group, line: ModelLine<Group>): number {
  const { groups, others, running } = line;
  if (group.queued === 0) return running;
  const own = sum(groups.map((one) => jobsUpTo(group.lastKey, one)));
  return running + own + sum(others.map((queued) => Math.min(queued, own)));
}

/** Jobs of a group up to this place, as if they stood at equal distances. */
function jobsUpTo(key: number, { queued, firstKey, lastKey }: QueuedGroup): number {
  if (queued === 0 || key < firstKey) return 0;
  if (key >= lastKey) return queued;
  return 1 + Math.floor(((key - firstKey) / (lastKey - firstKey)) * (queued - 1));
}

function rateOf({ callMs, failureShare }: Runner): number {
  return callMs === null || callMs <= 0 ? 0 : Math.max(0, 1 - failureShare) / callMs;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
