import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { MemberLimits } from '../../../core/access/caller.js';
import type { Quota } from '../../../core/usage/quota.js';
import type { AuditSubject, Created, Member, NewMember, Role } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';

/** A row of `members`, as `MEMBER_COLUMNS` selects it. */
export interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: Role;
  password_hash: string | null;
  rate_limit_requests: number | null;
  max_concurrent: number | null;
  /** JSON: `Quota` */
  quota: string | null;
  created_at: number;
  disabled_at: number | null;
}

export const MEMBER_COLUMNS = `id, email, name, role, password_hash,
  rate_limit_requests, max_concurrent, quota, created_at, disabled_at`;

/** Without the hash of the password: callers that need it read it separately. */
export function decodeMember(row: MemberRow): Member {
  const { id, email, name, role, created_at: createdAt, disabled_at: disabledAt } = row;
  const limits = decodeLimits(row);
  const hasPassword = row.password_hash !== null;
  return { id, email, name, role, limits, createdAt, disabledAt, hasPassword };
}

export function decodeLimits(
  row: Pick<MemberRow, 'rate_limit_requests' | 'max_concurrent' | 'quota'>,
): MemberLimits {
  const { rate_limit_requests: requests, max_concurrent: concurrent, quota } = row;
  return { requests, concurrent, ...(quota !== null && { quota: JSON.parse(quota) as Quota }) };
}

export function memberSubject({ id, email }: { id: string; email: string }): AuditSubject {
  return { kind: 'user', id, name: email };
}

/** Creates a member, for an administrator's command or an invite. */
export function memberCreator(
  database: Database,
  trail: AuditTrail,
): (member: NewMember, now: number) => Created<Member> {
  const insert = database.prepare<object, MemberRow>(
    `insert into members (id, email, name, role, password_hash, created_at)
     values (@id, @email, @name, @role, @passwordHash, @now) on conflict do nothing
     returning ${MEMBER_COLUMNS}`,
  );
  const emailTaken = database.prepare('select 1 from members where email = ?');
  return (member, now) => {
    const row = insert.get({ ...member, id: ulid(now), now });
    if (row === undefined) {
      return {
        kind: 'taken',
        field: emailTaken.get(member.email) === undefined ? 'name' : 'email',
      };
    }
    noteCreated(trail, row);
    return { kind: 'created', value: decodeMember(row) };
  };
}

/** One statement checks and writes: of several concurrent calls, only one creates a member. */
export function firstMemberCreator(
  database: Database,
  trail: AuditTrail,
): (member: Omit<NewMember, 'role'>, now: number) => Member | null {
  const insert = database.prepare<object, MemberRow>(
    `insert into members (id, email, name, role, password_hash, created_at)
     select @id, @email, @name, 'admin', @passwordHash, @now
     where not exists (select 1 from members) returning ${MEMBER_COLUMNS}`,
  );
  return (member, now) => {
    const row = insert.get({ ...member, id: ulid(now), now });
    if (row === undefined) return null;
    noteCreated(trail, row);
    return decodeMember(row);
  };
}

function noteCreated(trail: AuditTrail, row: MemberRow): void {
  const { email, name, role } = row;
  const after = { email, name, role };
  trail.record({ action: 'user.create', subject: memberSubject(row), before: null, after });
}
