import { ulid } from '@inference-gateway/shared/ids';
import type { MemberLimits } from '../../../core/access/caller.js';
import type { Quota } from '../../../core/usage/quota.js';
import type { AuditSubject, Created, Member, NewMember, Role } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';

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
  /** Whether excerpts of their requests are kept. */
  excerpts: 0 | 1;
}

export const MEMBER_COLUMNS = `id, email, name, role, password_hash,
  rate_limit_requests, max_concurrent, quota, created_at, disabled_at, excerpts`;

export const memberById = statement<{ id: string }, MemberRow>(
  `select ${MEMBER_COLUMNS} from members where id = @id`,
);
export const memberOfEmail = statement<{ email: string }>(
  'select id from members where email = @email',
);

/** Without the hash of the password: callers that need it read it separately. */
export function decodeMember(row: MemberRow): Member {
  const { id, email, name, role, created_at: createdAt, disabled_at: disabledAt } = row;
  const limits = decodeLimits(row);
  const [hasPassword, keepsExcerpts] = [row.password_hash !== null, row.excerpts === 1];
  return { id, email, name, role, limits, createdAt, disabledAt, hasPassword, keepsExcerpts };
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

const insert = statement<object, MemberRow>(
  `insert into members (id, email, name, role, password_hash, created_at)
   values (@id, @email, @name, @role, @passwordHash, @now) on conflict do nothing
   returning ${MEMBER_COLUMNS}`,
);

/** Creates a member, for an administrator's command or an invite. */
export function* createMember(member: NewMember, now: number): Operation<Created<Member>> {
  const row = yield* insert.get({ ...member, id: ulid(now), now });
  if (row === undefined) {
    const { email } = member;
    const isEmailFree = (yield* memberOfEmail.get({ email })) === undefined;
    return { kind: 'taken', field: isEmailFree ? 'name' : 'email' };
  }
  yield* recordCreated(row);
  return { kind: 'created', value: decodeMember(row) };
}

const insertFirst = statement<object, MemberRow>(
  `insert into members (id, email, name, role, password_hash, created_at)
   select @id, @email, @name, 'admin', @passwordHash, @now
   where not exists (select 1 from members) returning ${MEMBER_COLUMNS}`,
);

/** One statement checks and writes: of several concurrent calls, only one creates a member. */
export function* createFirstMember(
  member: Omit<NewMember, 'role'>,
  now: number,
): Operation<Member | null> {
  const row = yield* insertFirst.get({ ...member, id: ulid(now), now });
  if (row === undefined) return null;
  yield* recordCreated(row);
  return decodeMember(row);
}

function* recordCreated(row: MemberRow): Operation<void> {
  const { email, name, role } = row;
  const after = { email, name, role };
  yield* record({ action: 'user.create', subject: memberSubject(row), before: null, after });
}
