import type { Database } from 'better-sqlite3';
import type { PageQuery } from '../../port.js';

/** Before and after every ULID. */
const ENDS = { asc: '', desc: '~' } as const;

/**
 * The id that a page of a list begins behind; null where `after` is unknown. Whether another
 * member's job or batch exists is not to be learned by paging.
 */
export function pageStart(
  database: Database,
  table: 'jobs' | 'batches',
): (query: PageQuery, order: keyof typeof ENDS) => string | null {
  const find = database
    .prepare<{ after: string; memberId: string | null }, string>(
      `select id from ${table}
       where id = @after and (@memberId is null or member_id = @memberId)`,
    )
    .pluck();
  return ({ after, memberId }, order) =>
    after === null ? ENDS[order] : (find.get({ after, memberId }) ?? null);
}
