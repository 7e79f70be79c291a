import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { Created, Member, MemberLimits, NewMember, Role } from '../port.js';
import type { Operations } from './operations.js';

type MemberOperations = Pick<
  Operations,
  'createMember' | 'findMember' | 'listMembers' | 'setMemberLimits'
>;

interface Row {
  id: string;
  email: string;
  name: string;
  role: Role;
  rate_limit_requests: number | null;
  max_concurrent: number | null;
  created_at: number;
}

export function memberOperations(database: Database): MemberOperations {
  const insert = database.prepare<unknown[], Row>(
    `insert into members (id, email, name, role, password_hash, created_at)
     values (?, ?, ?, ?, ?, ?) on conflict do nothing returning *`,
  );
  const emailTaken = database.prepare('select 1 from members where email = ?');
  // An id wins over an address, and that over a name: a name can be chosen to look like an id.
  const find = database.prepare<{ ref: string }, Row>(
    `select * from members where id = @ref or email = @ref or name = @ref
     order by id = @ref desc, email = @ref desc limit 1`,
  );
  const list = database.prepare<[], Row>('select * from members order by created_at, id');
  // What is not told stays; null is told, too.
  const limit = database.prepare<LimitChange>(
    `update members set
       rate_limit_requests = iif(@setsRequests, @requests, rate_limit_requests),
       max_concurrent = iif(@setsConcurrent, @concurrent, max_concurrent)
     where id = @id`,
  );
  return {
    createMember: (member, now) => create(member, now),
    findMember: (ref) => toMember(find.get({ ref })),
    listMembers: () => list.all().map(decode),
    setMemberLimits: (id, limits) => limit.run(toChange(id, limits)).changes === 1,
  };

  function create(member: NewMember, now: number): Created<Member> {
    const { email, name, role, passwordHash } = member;
    const row = insert.get(ulid(now), email, name, role, passwordHash, now);
    if (row !== undefined) return { kind: 'created', value: decode(row) };
    return { kind: 'taken', field: emailTaken.get(email) === undefined ? 'name' : 'email' };
  }
}

interface LimitChange {
  readonly id: string;
  readonly requests: number | null;
  readonly setsRequests: 0 | 1;
  readonly concurrent: number | null;
  readonly setsConcurrent: 0 | 1;
}

function toChange(id: string, { requests, concurrent }: Partial<MemberLimits>): LimitChange {
  return {
    id,
    requests: requests ?? null,
    setsRequests: requests === undefined ? 0 : 1,
    concurrent: concurrent ?? null,
    setsConcurrent: concurrent === undefined ? 0 : 1,
  };
}

function toMember(row: Row | undefined): Member | null {
  return row === undefined ? null : decode(row);
}

function decode(row: Row): Member {
  const { id, email, name, role, created_at } = row;
  const limits = { requests: row.rate_limit_requests, concurrent: row.max_concurrent };
  return { id, email, name, role, limits, createdAt: created_at };
}
