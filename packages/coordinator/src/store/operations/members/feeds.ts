/** The tokens of members' Atom feeds. */
import { record } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import { decodeMember, MEMBER_COLUMNS, memberById, memberSubject } from './member-rows.js';
import type { MemberRow } from './member-rows.js';

type FeedOperations = Pick<Operations, 'setFeed' | 'findFeedOwner' | 'feedMadeAt'>;

const set = statement<{ id: string; hash: string | null; at: number | null }>(
  'update members set feed_hash = @hash, feed_made_at = @at where id = @id',
);
const owner = statement<{ hash: string }, MemberRow>(
  `select ${MEMBER_COLUMNS} from members where feed_hash = @hash and disabled_at is null`,
);
const madeAt = statement<{ id: string }, { feed_made_at: number | null }>(
  'select feed_made_at from members where id = @id',
);

export const feedOperations: FeedOperations = {
  *setFeed(memberId, hash, now) {
    const row = yield* memberById.get({ id: memberId });
    if (row === undefined) return false;
    const before = yield* madeAt.get({ id: memberId });
    const hadOne = (before?.feed_made_at ?? null) !== null;
    if (hash === null && !hadOne) return false;
    yield* set.run({ id: memberId, hash, at: hash === null ? null : now });
    const action = hash === null ? 'feed.revoke' : 'feed.create';
    yield* record({ action, subject: memberSubject(row), before: null, after: null });
    return true;
  },

  *findFeedOwner(hash) {
    const row = yield* owner.get({ hash });
    return row === undefined ? null : decodeMember(row);
  },

  *feedMadeAt(memberId) {
    return (yield* madeAt.get({ id: memberId }))?.feed_made_at ?? null;
  },
};
