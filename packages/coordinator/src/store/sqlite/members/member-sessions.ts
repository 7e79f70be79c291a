import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AuditSubject, MemberSession } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { decodeMember, MEMBER_COLUMNS, memberSubject } from './member-rows.js';
import type { MemberRow } from './member-rows.js';
import type { Operations } from '../engine/operations.js';

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
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

const SELECT = `select s.id, s.member_id, s.address, s.user_agent, s.created_at,
    s.last_used_at, s.expires_at, m.name as member_name, m.email as member_email
  from member_sessions s join members m on m.id = s.member_id`;

export function sessionOperations(database: Database, trail: AuditTrail): SessionOperations {
  const withPassword = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members
     where email = ? and password_hash is not null and disabled_at is null`,
  );
  const list = database.prepare<{ memberId: string | null; now: number }, Row>(
    `${SELECT} where (@memberId is null or s.member_id = @memberId) and s.expires_at > @now
     order by s.created_at desc, s.rowid desc`,
  );
  return {
    findPassword: (email) => {
      const row = withPassword.get(email);
      const passwordHash = row?.password_hash ?? null;
      if (row === undefined || passwordHash === null) return null;
      return { member: decodeMember(row), passwordHash };
    },
    createSession: creator(database),
    useSession: user(database),
    listSessions: (memberId, now) => list.all({ memberId, now }).map(decode),
    endSessions: ender(database, trail),
  };
}

function creator(database: Database): Operations['createSession'] {
  const insert = database.prepare<object>(
    `insert into member_sessions
       (id, hash, member_id, address, user_agent, created_at, last_used_at, expires_at)
     select @id, @hash, id, @address, @userAgent, @now, @now, @expiresAt from members
     where id = @memberId and password_hash is @passwordHash and disabled_at is null`,
  );
  const forgetOver = database.prepare('delete from member_sessions where expires_at <= ?');
  const pushOut = database.prepare<[string]>(
    `delete from member_sessions where id in (
       select id from member_sessions where member_id = ?
       order by created_at desc, rowid desc limit -1 offset ${MAX_SESSIONS})`,
  );
  const find = database.prepare<[string], Row>(`${SELECT} where s.id = ?`);
  return (session, now) => {
    const id = ulid(now);
    forgetOver.run(now);
    insert.run({ ...session, id, now });
    pushOut.run(session.memberId);
    const row = find.get(id);
    return row === undefined ? null : decode(row);
  };
}

function user(database: Database): Operations['useSession'] {
  const find = database.prepare<{ hash: string; now: number }, Row>(
    `${SELECT} where s.hash = @hash and s.expires_at > @now and m.disabled_at is null`,
  );
  const memberOf = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const note = database.prepare(
    `update member_sessions
     set last_used_at = @now, address = @address, expires_at = @expiresAt where id = @id`,
  );
  return (hash, address, now) => {
    const row = find.get({ hash, now });
    const member = memberOf.get(row?.member_id ?? '');
    if (row === undefined || member === undefined) return null;
    const isNoted = now - row.last_used_at < USE_NOTED_EVERY_MS;
    // Each recorded use extends the session by its full lifetime.
    const expiresAt = row.expires_at - row.last_used_at + now;
    if (!isNoted) note.run({ id: row.id, address, now, expiresAt });
    const used = isNoted ? row : { ...row, last_used_at: now, address, expires_at: expiresAt };
    return { session: decode(used), member: decodeMember(member) };
  };
}

function ender(database: Database, trail: AuditTrail): Operations['endSessions'] {
  const find = database.prepare<[string], Row>(`${SELECT} where s.id = ?`);
  const findMember = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const forgetOver = database.prepare('delete from member_sessions where expires_at <= ?');
  const end = {
    id: database.prepare<[string]>('delete from member_sessions where id = ?'),
    memberId: database.prepare<[string]>('delete from member_sessions where member_id = ?'),
  };
  return (which, now) => {
    forgetOver.run(now);
    const subject = subjectOf(which);
    const ended = 'id' in which ? end.id.run(which.id) : end.memberId.run(which.memberId);
    if (subject !== null && ended.changes > 0) {
      const after = { ended: ended.changes };
      trail.record({ action: 'session.end', subject, before: null, after });
    }
    return ended.changes;
  };

  function subjectOf(which: Parameters<Operations['endSessions']>[0]): AuditSubject | null {
    if ('memberId' in which) {
      const member = findMember.get(which.memberId);
      return member === undefined ? null : memberSubject(member);
    }
    const row = find.get(which.id);
    return row === undefined ? null : { kind: 'session', id: row.id, name: row.member_email };
  }
}

function decode(row: Row): MemberSession {
  return {
    id: row.id,
    memberId: row.member_id,
    memberName: row.member_name,
    address: row.address,
    userAgent: row.user_agent,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
