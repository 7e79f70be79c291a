import type { Database } from 'better-sqlite3';
import type { CancelOutcome } from '../../port.js';
import { jobEnds } from './job-end.js';
import { jobFinder, toJob } from './job-rows.js';

interface Cancel {
  readonly id: string;
  readonly memberId: string | null;
  readonly now: number;
}

const CANCEL = `update jobs set
    status = 'CANCELED', finished_at = @now, error = null, not_before = null,
    excluded_until = null, claim_id = null, session_id = null, lease_until = null,
    accepted_at = null, run_deadline = null
  where id = @id and (@memberId is null or member_id = @memberId)`;

/** Ends a job that has not ended; whoever had claimed it finds the claim gone. */
export function jobCanceller(database: Database): (cancel: Cancel) => CancelOutcome {
  // Two statements: only that of a running job knows of a claim that was current until now.
  const running = database
    .prepare<Cancel, string>(`${CANCEL} and status = 'PROCESSING' returning last_claim_id`)
    .pluck();
  const queued = database.prepare(`${CANCEL} and status = 'QUEUED'`);
  const find = jobFinder(database);
  const ends = jobEnds(database);
  return (cancel) => {
    const { id, memberId, now } = cancel;
    const claimId = running.get(cancel) ?? null;
    if (claimId !== null || queued.run(cancel).changes === 1) {
      return { kind: 'canceled', ...ends.concludeJob(id, now, null), claimId };
    }
    const row = find(id, memberId);
    return row === undefined ? { kind: 'unknown' } : { kind: 'finished', job: toJob(row) };
  };
}
