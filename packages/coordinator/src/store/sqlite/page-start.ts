import type { Database } from 'better-sqlite3';
import type { PageQuery } from '../port.js';

/** After every ULID. */
const NEWEST = '~';

/**
 * The id that a page of a list, newest first, begins below; null where `after` is unknown. Whether
 * another member's job or batch exists is not to be learned by paging.
 */
export function pageStart(
  database: Database,
  table: 'jobs' | 'batches',
): (query: PageQuery) => string | null {
  const find = database
    .prepare<{ after: string; memberId: string | null }, string>(
      `select id from ${table}
       where id = @after and (@memberId is null or member_id = @memberId)`,
    )
    .pluck();
  return ({ after, memberId }) =>
    after === null ? NEWEST : (find.get({ after, memberId }) ?? null);
}
