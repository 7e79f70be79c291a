import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AuditSubject, StoredAlias } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import type { Operations } from '../engine/operations.js';

type AliasOperations = Pick<Operations, 'setAlias' | 'removeAlias' | 'listAliases'>;

interface Row {
  id: string;
  member_id: string | null;
  member_name: string | null;
  name: string;
  /** JSON */
  models: string;
  created_at: number;
  updated_at: number;
}

const SELECT = `select a.id, a.member_id, m.name as member_name, a.name, a.models,
    a.created_at, a.updated_at
  from aliases a left join members m on m.id = a.member_id`;

/** As the unique index: null is not equal to itself. */
const OF_OWNER = `coalesce(member_id, '') = coalesce(@memberId, '')`;

export function aliasOperations(database: Database, trail: AuditTrail): AliasOperations {
  const list = database.prepare<[], Row>(
    `${SELECT} order by a.member_id is not null, m.name, a.member_id, a.name`,
  );
  return {
    setAlias: setter(database, trail),
    removeAlias: remover(database, trail),
    listAliases: () => list.all().map(decode),
  };
}

function setter(database: Database, trail: AuditTrail): Operations['setAlias'] {
  const find = aliasFinder(database);
  const insert = database.prepare<object>(
    `insert into aliases (id, member_id, name, models, created_at, updated_at)
     values (@id, @memberId, @name, @models, @now, @now)`,
  );
  const update = database.prepare<object>(
    `update aliases set models = @models, updated_at = max(created_at, @now)
     where id = @id and models <> @models`,
  );
  const nested = nestingFinder(database);
  const refusalOf = capReader(database, `aliases where ${OF_OWNER}`);
  return ({ cap, memberId, name, models }, now) => {
    const refusal = nested({ memberId, name, models });
    if (refusal !== null) return refusal;
    const old = find(memberId, name);
    const full = old === null ? refusalOf(cap, { memberId }) : null;
    if (full !== null) return full;
    const chain = JSON.stringify(models);
    if (old === null) insert.run({ id: ulid(now), memberId, name, models: chain, now });
    else update.run({ id: old.id, models: chain, now });
    const value = find(memberId, name);
    if (value === null) throw new Error(`the alias ${name} that was just set is not there`);
    const before = old?.models ?? null;
    if (JSON.stringify(before) !== chain) {
      const sides = { before: old && { models: old.models }, after: describe(value) };
      trail.record({ action: 'alias.set', subject: subjectOf(value), ...sides });
    }
    return { kind: 'set', value, before };
  };
}

type Nesting = { kind: 'names_alias' | 'named_by'; alias: string };

function nestingFinder(
  database: Database,
): (alias: { memberId: string | null; name: string; models: readonly string[] }) => Nesting | null {
  const named = database
    .prepare<object, string>(
      `select name from aliases where ${OF_OWNER}
         and name in (select value from json_each(@models)) order by name limit 1`,
    )
    .pluck();
  const naming = database
    .prepare<object, string>(
      `select name from aliases where ${OF_OWNER} and name <> @name
         and @name in (select value from json_each(models)) order by name limit 1`,
    )
    .pluck();
  return ({ memberId, name, models }) => {
    const inside = named.get({ memberId, models: JSON.stringify(models) });
    if (inside !== undefined) return { kind: 'names_alias', alias: inside };
    const around = naming.get({ memberId, name });
    return around === undefined ? null : { kind: 'named_by', alias: around };
  };
}

function remover(database: Database, trail: AuditTrail): Operations['removeAlias'] {
  const find = aliasFinder(database);
  const remove = database.prepare('delete from aliases where id = ?');
  return (memberId, name) => {
    const alias = find(memberId, name);
    if (alias === null) return false;
    remove.run(alias.id);
    const [subject, before] = [subjectOf(alias), describe(alias)];
    trail.record({ action: 'alias.remove', subject, before, after: null });
    return true;
  };
}

function aliasFinder(
  database: Database,
): (memberId: string | null, name: string) => StoredAlias | null {
  const find = database.prepare<object, Row>(
    `${SELECT} where coalesce(a.member_id, '') = coalesce(@memberId, '') and a.name = @name`,
  );
  return (memberId, name) => {
    const row = find.get({ memberId, name });
    return row === undefined ? null : decode(row);
  };
}

function subjectOf({ id, name, memberName }: StoredAlias): AuditSubject {
  return { kind: 'alias', id, name: memberName === null ? name : `${memberName}/${name}` };
}

function describe({ models, memberName }: StoredAlias): Record<string, unknown> {
  return { models, owner: memberName };
}

function decode(row: Row): StoredAlias {
  return {
    id: row.id,
    memberId: row.member_id,
    memberName: row.member_name,
    name: row.name,
    models: JSON.parse(row.models) as string[],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
