import { changedQuota, writtenRules } from '../../../core/usage/quota.js';
import type { MemberChange } from '../../port.js';
import { record, recordChange } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { networkOperations } from '../sharing/networks.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import {
  createFirstMember,
  createMember,
  decodeMember,
  MEMBER_COLUMNS,
  memberById,
  memberSubject,
} from './member-rows.js';
import type { MemberRow } from './member-rows.js';

type MemberOperations = Pick<
  Operations,
  | 'createMember'
  | 'createFirstMember'
  | 'firstSteps'
  | 'closeChecklist'
  | 'findMember'
  | 'listMembers'
  | 'changeMember'
  | 'setMemberLimits'
>;

// An id has priority over an address, and an address over a name: a name can be chosen to look like
// an id. The cast (of no effect in SQLite) keeps PostgreSQL from comparing case.
const find = statement<{ ref: string }, MemberRow>(
  `select ${MEMBER_COLUMNS} from members
   where id = @ref or email = cast(@ref as citext) or name = cast(@ref as citext)
   order by id = @ref desc, email = cast(@ref as citext) desc limit 1`,
);
const list = statement<object, MemberRow>(
  `select ${MEMBER_COLUMNS} from members order by created_at, id`,
);
const nameTaken = statement<{ name: string; id: string }>(
  'select 1 from members where name = @name and id <> @id',
);
const update = statement<MemberRow>(
  `update members set name = @name, role = @role, disabled_at = @disabled_at,
     password_hash = @password_hash
   where id = @id`,
);
/** Links that were made before do not set yet another password. */
const endResets = statement<{ id: string }>('delete from password_resets where member_id = @id');
const endSessions = statement<{ id: string }>('delete from member_sessions where member_id = @id');
const setLimits = statement(
  `update members set
     rate_limit_requests = @requests, max_concurrent = @concurrent, quota = @quota
   where id = @id`,
);

/** The network of the first administrator, to invite others into. */
const FIRST_NETWORK = 'friends';

interface Steps {
  hasShared: 0 | 1;
  hasInvited: 0 | 1;
  checklistClosedAt: number | null;
}

const firstSteps = statement<{ id: string }, Steps>(
  `select checklist_closed_at as "checklistClosedAt",
     exists (select 1 from shares join providers on providers.id = shares.provider_id
       where providers.owner_id = members.id) as "hasShared",
     exists (select 1 from invites where invited_by = members.id and revoked_at is null)
       or exists (select 1 from network_invitations where invited_by = members.id)
       or exists (select 1 from networks join network_members on network_id = networks.id
         where owner_id = members.id and member_id <> owner_id) as "hasInvited"
   from members where id = @id`,
);
const closeChecklist = statement<{ id: string; at: number | null }>(
  'update members set checklist_closed_at = @at where id = @id',
);

export const memberOperations: MemberOperations = {
  createMember,

  *createFirstMember(member, now) {
    const created = yield* createFirstMember(member, now);
    if (created === null) return null;
    // If there is a network of this name already, that one stays as it is.
    yield* networkOperations.createNetwork({ name: FIRST_NETWORK, ownerId: created.id }, now);
    return created;
  },

  *firstSteps(id) {
    const row = yield* firstSteps.get({ id });
    if (row === undefined) throw new Error(`the member ${id} is not there`);
    return { ...row, hasShared: row.hasShared === 1, hasInvited: row.hasInvited === 1 };
  },

  *closeChecklist(id, at) {
    yield* closeChecklist.run({ id, at });
  },

  *findMember(ref) {
    const row = yield* find.get({ ref });
    return row === undefined ? null : decodeMember(row);
  },

  *listMembers() {
    return (yield* list.all({})).map(decodeMember);
  },

  *changeMember(id, change, now) {
    const before = yield* memberById.get({ id });
    const { name, formerPasswordHash: former } = change;
    if (before === undefined) return { kind: 'unknown' };
    if (former !== undefined && former !== before.password_hash) return { kind: 'unknown' };
    if (name !== undefined && (yield* nameTaken.get({ name, id })) !== undefined) {
      return { kind: 'taken', field: 'name' };
    }
    const after = changed(before, change, now);
    yield* update.run(after);
    const switches = (before.disabled_at === null) !== (after.disabled_at === null);
    // Also when the member is enabled again: a log-in that was in progress when the member was
    // disabled must end, too.
    if (switches || change.passwordHash !== undefined) yield* endSessions.run({ id });
    if (change.passwordHash !== undefined) yield* endResets.run({ id });
    yield* recordChanges(before, after);
    return { kind: 'changed', value: decodeMember(after) };
  },

  *setMemberLimits(id, limits) {
    const row = yield* memberById.get({ id });
    if (row === undefined) return false;
    const before = decodeMember(row).limits;
    // Absent limits stay as they were; null is a value.
    const { requests = before.requests, concurrent = before.concurrent } = limits;
    const quota = changedQuota(before.quota ?? null, limits);
    const written = quota === null ? null : JSON.stringify(quota);
    yield* setLimits.run({ id, requests, concurrent, quota: written });
    const { models: _of, ...was } = writtenRules(before.quota ?? null);
    const { models: _to, ...is } = writtenRules(quota);
    // Named only where there is one: most members have none.
    const isNamed = row.quota !== null || written !== null;
    yield* recordChange({
      action: 'limit.set',
      subject: memberSubject(row),
      before: { requests: before.requests, concurrent: before.concurrent, ...was },
      after: { requests, concurrent, ...(isNamed && is) },
    });
    return true;
  },
};

function changed(row: MemberRow, change: MemberChange, now: number): MemberRow {
  const { name = row.name, role = row.role, passwordHash = row.password_hash } = change;
  const disabled = change.disabled ?? row.disabled_at !== null;
  const disabled_at = disabled ? (row.disabled_at ?? now) : null;
  return { ...row, name, role, disabled_at, password_hash: passwordHash };
}

/** One entry per field, each under the command that changes it. */
function* recordChanges(before: MemberRow, after: MemberRow): Operation<void> {
  const subject = memberSubject(after);
  const note = (
    action: string,
    of: (row: MemberRow) => Record<string, string | boolean>,
  ): Operation<void> => recordChange({ action, subject, before: of(before), after: of(after) });
  yield* note('user.rename', ({ name }) => ({ name }));
  yield* note('user.role', ({ role }) => ({ role }));
  yield* note(after.disabled_at === null ? 'user.enable' : 'user.disable', ({ disabled_at }) => ({
    disabled: disabled_at !== null,
  }));
  // Records only that it changed: a hash in the log could be used for guessing.
  if (before.password_hash !== after.password_hash) {
    yield* record({ action: 'user.password', subject, before: null, after: null });
  }
}
