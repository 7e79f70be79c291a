import { ulid } from '@inference-gateway/shared/ids';
import type { AuditSubject, LogInMethod, MemberSession } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { decodeMember, MEMBER_COLUMNS, memberById, memberSubject } from './member-rows.js';
import type { MemberRow } from './member-rows.js';

type SessionOperations = Pick<
  Operations,
  'findPassword' | 'createSession' | 'useSession' | 'listSessions' | 'endSessions'
>;

/** Live sessions per member: a further log-in ends the member's oldest session. */
export const MAX_SESSIONS = 100;
/**
 * Every request of the dashboard uses its session; recording each use would write a page each time.
 */
const USE_NOTED_EVERY_MS = 60_000;

interface Row {
  id: string;
  member_id: string;
  member_name: string;
  member_email: string;
  address: string;
  user_agent: string;
  method: LogInMethod;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

const SELECT = `select s.id, s.member_id, s.address, s.user_agent, s.method,
    s.created_at, s.last_used_at, s.expires_at, m.name as member_name, m.email as member_email
  from member_sessions s join members m on m.id = s.member_id`;

const withPassword = statement<{ email: string }, MemberRow>(
  `select ${MEMBER_COLUMNS} from members
   where email = @email and password_hash is not null and disabled_at is null`,
);
const list = statement<{ memberId: string | null; now: number }, Row>(
  `${SELECT} where (s.member_id = @memberId or @memberId is null) and s.expires_at > @now
   order by s.created_at desc, s.rowid desc`,
);
const sessionById = statement<{ id: string }, Row>(`${SELECT} where s.id = @id`);
const insert = statement(
  `insert into member_sessions
     (id, hash, member_id, address, user_agent, method, created_at, last_used_at, expires_at)
   select @id, @hash, id, @address, @userAgent, cast(@method as text), @now, @now, @expiresAt
   from members where id = @memberId and disabled_at is null
     and (password_hash is not distinct from @passwordHash or cast(@method as text) <> 'password')`,
);
const forgetOver = statement<{ now: number }>(
  'delete from member_sessions where expires_at <= @now',
);
const pushOut = statement<{ memberId: string }>(
  `delete from member_sessions where member_id = @memberId and id not in (
     select id from member_sessions where member_id = @memberId
     order by created_at desc, rowid desc limit ${MAX_SESSIONS})`,
);
const used = statement<{ hash: string; now: number }, Row>(
  `${SELECT} where s.hash = @hash and s.expires_at > @now and m.disabled_at is null`,
);
const noteUse = statement(
  `update member_sessions
   set last_used_at = @now, address = @address, expires_at = @expiresAt where id = @id`,
);
const endOne = statement<{ id: string }>('delete from member_sessions where id = @id');
const endAllOf = statement<{ memberId: string }>(
  'delete from member_sessions where member_id = @memberId',
);

export const sessionOperations: SessionOperations = {
  *findPassword(email) {
    const row = yield* withPassword.get({ email });
    const passwordHash = row?.password_hash ?? null;
    if (row === undefined || passwordHash === null) return null;
    return { member: decodeMember(row), passwordHash };
  },

  *createSession(session, now) {
    const id = ulid(now);
    yield* forgetOver.run({ now });
    yield* insert.run({ method: 'password', ...session, id, now });
    yield* pushOut.run({ memberId: session.memberId });
    const row = yield* sessionById.get({ id });
    return row === undefined ? null : decode(row);
  },

  *useSession(hash, address, now) {
    const row = yield* used.get({ hash, now });
    const member = row && (yield* memberById.get({ id: row.member_id }));
    if (row === undefined || member === undefined) return null;
    const isNoted = now - row.last_used_at < USE_NOTED_EVERY_MS;
    // Each recorded use extends the session by its full lifetime.
    const expiresAt = row.expires_at - row.last_used_at + now;
    if (!isNoted) yield* noteUse.run({ id: row.id, address, now, expiresAt });
    const after = isNoted ? row : { ...row, last_used_at: now, address, expires_at: expiresAt };
    return { session: decode(after), member: decodeMember(member) };
  },

  *listSessions(memberId, now) {
    return (yield* list.all({ memberId, now })).map(decode);
  },

  *endSessions(which, now) {
    yield* forgetOver.run({ now });
    const subject = yield* subjectOf(which);
    const ended = yield* 'id' in which ? endOne.run(which) : endAllOf.run(which);
    if (subject !== null && ended > 0) {
      yield* record({ action: 'session.end', subject, before: null, after: { ended } });
    }
    return ended;
  },
};

function* subjectOf(
  which: Parameters<Operations['endSessions']>[0],
): Operation<AuditSubject | null> {
  if ('memberId' in which) {
    const member = yield* memberById.get({ id: which.memberId });
    return member === undefined ? null : memberSubject(member);
  }
  const row = yield* sessionById.get(which);
  return row === undefined ? null : { kind: 'session', id: row.id, name: row.member_email };
}

function decode(row: Row): MemberSession {
  return {
    id: row.id,
    memberId: row.member_id,
    memberName: row.member_name,
    address: row.address,
    userAgent: row.user_agent,
    method: row.method,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
