import type { Database } from 'better-sqlite3';
import { changedQuota, writtenRules } from '../../../core/usage/quota.js';
import type { MemberChange } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import {
  decodeMember,
  firstMemberCreator,
  MEMBER_COLUMNS,
  memberCreator,
  memberSubject,
} from './member-rows.js';
import type { MemberRow } from './member-rows.js';
import type { Operations } from '../engine/operations.js';

type MemberOperations = Pick<
  Operations,
  | 'createMember'
  | 'createFirstMember'
  | 'findMember'
  | 'listMembers'
  | 'changeMember'
  | 'setMemberLimits'
>;

export function memberOperations(database: Database, trail: AuditTrail): MemberOperations {
  // An id has priority over an address, and an address over a name: a name can be chosen to look
  // like an id.
  const find = database.prepare<{ ref: string }, MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = @ref or email = @ref or name = @ref
     order by id = @ref desc, email = @ref desc limit 1`,
  );
  const list = database.prepare<[], MemberRow>(
    `select ${MEMBER_COLUMNS} from members order by created_at, id`,
  );
  return {
    createMember: memberCreator(database, trail),
    createFirstMember: firstMemberCreator(database, trail),
    findMember: (ref) => {
      const row = find.get({ ref });
      return row === undefined ? null : decodeMember(row);
    },
    listMembers: () => list.all().map(decodeMember),
    changeMember: changer(database, trail),
    setMemberLimits: limiter(database, trail),
  };
}

/**
 * Only this connection writes, and an operation runs synchronously, so the member that is read for
 * the audit log is the one that is changed.
 */
function changer(database: Database, trail: AuditTrail): Operations['changeMember'] {
  const byId = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const nameTaken = database.prepare('select 1 from members where name = @name and id <> @id');
  const update = database.prepare<MemberRow>(
    `update members set name = @name, role = @role, disabled_at = @disabled_at,
       password_hash = @password_hash
     where id = @id`,
  );
  const endSessions = database.prepare('delete from member_sessions where member_id = ?');
  return (id, change, now) => {
    const before = byId.get(id);
    const { name, formerPasswordHash: former } = change;
    if (before === undefined) return { kind: 'unknown' };
    if (former !== undefined && former !== before.password_hash) return { kind: 'unknown' };
    if (name !== undefined && nameTaken.get({ name, id }) !== undefined) {
      return { kind: 'taken', field: 'name' };
    }
    const after = changed(before, change, now);
    update.run(after);
    const switches = (before.disabled_at === null) !== (after.disabled_at === null);
    // Also when the member is enabled again: a log-in that was in progress when the member was
    // disabled must end, too.
    if (switches || change.passwordHash !== undefined) endSessions.run(id);
    recordChanges(trail, before, after);
    return { kind: 'changed', value: decodeMember(after) };
  };
}

function changed(row: MemberRow, change: MemberChange, now: number): MemberRow {
  const { name = row.name, role = row.role, passwordHash = row.password_hash } = change;
  const disabled = change.disabled ?? row.disabled_at !== null;
  const disabled_at = disabled ? (row.disabled_at ?? now) : null;
  return { ...row, name, role, disabled_at, password_hash: passwordHash };
}

/** One entry per field, each under the command that changes it. */
function recordChanges(trail: AuditTrail, before: MemberRow, after: MemberRow): void {
  const subject = memberSubject(after);
  const note = (action: string, of: (row: MemberRow) => Record<string, string | boolean>): void =>
    trail.recordChange({ action, subject, before: of(before), after: of(after) });
  note('user.rename', ({ name }) => ({ name }));
  note('user.role', ({ role }) => ({ role }));
  note(after.disabled_at === null ? 'user.enable' : 'user.disable', ({ disabled_at }) => ({
    disabled: disabled_at !== null,
  }));
  // Records only that it changed: a hash in the log could be used for guessing.
  if (before.password_hash !== after.password_hash) {
    trail.record({ action: 'user.password', subject, before: null, after: null });
  }
}

function limiter(database: Database, trail: AuditTrail): Operations['setMemberLimits'] {
  const byId = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const update = database.prepare<object>(
    `update members set
       rate_limit_requests = @requests, max_concurrent = @concurrent, quota = @quota
     where id = @id`,
  );
  return (id, limits) => {
    const row = byId.get(id);
    if (row === undefined) return false;
    const before = decodeMember(row).limits;
    // Absent limits stay as they were; null is a value.
    const { requests = before.requests, concurrent = before.concurrent } = limits;
    const quota = changedQuota(before.quota ?? null, limits);
    const written = quota === null ? null : JSON.stringify(quota);
    update.run({ id, requests, concurrent, quota: written });
    const { models: _of, ...was } = writtenRules(before.quota ?? null);
    const { models: _to, ...is } = writtenRules(quota);
    // Named only where there is one: most members have none.
    const isNamed = row.quota !== null || written !== null;
    trail.recordChange({
      action: 'limit.set',
      subject: memberSubject(row),
      before: { requests: before.requests, concurrent: before.concurrent, ...was },
      after: { requests, concurrent, ...(isNamed && is) },
    });
    return true;
  };
}
