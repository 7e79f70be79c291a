import type { Database } from 'better-sqlite3';
import type { QueueFull, QueueLimits } from '../../port.js';

interface Addition {
  readonly memberId: string;
  readonly jobs: number;
  readonly bytes: number;
}

/** Tells which limit so many more jobs of a member would break; null where there is room. */
export function queueLimitReader(
  database: Database,
): (addition: Addition, limits: QueueLimits) => QueueFull | null {
  const spent = database.prepare<[string], QueueLimits>(
    `select coalesce(sum(queued), 0) as jobs, coalesce(sum(bytes), 0) as bytes
     from queue_counts where member_id = ?`,
  );
  return (addition, limits) => {
    const { jobs, bytes } = spent.get(addition.memberId) ?? { jobs: 0, bytes: 0 };
    if (jobs + addition.jobs > limits.jobs) {
      return { kind: 'queue_full', limit: 'jobs', queued: jobs };
    }
    if (bytes + addition.bytes > limits.bytes) {
      return { kind: 'queue_full', limit: 'bytes', queued: bytes };
    }
    return null;
  };
}
