import { ulid } from '@inference-gateway/shared/ids';
import type { AuditSubject, StoredAlias } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

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

const list = statement<object, Row>(
  `${SELECT} order by a.member_id is not null, m.name, a.member_id, a.name`,
);
const insert = statement(
  `insert into aliases (id, member_id, name, models, created_at, updated_at)
   values (@id, @memberId, @name, @models, @now, @now)`,
);
const update = statement<{ id: string; models: string; now: number }>(
  `update aliases
   set models = @models, updated_at = case when created_at > @now then created_at else @now end
   where id = @id and models <> @models`,
);
const remove = statement<{ id: string }>('delete from aliases where id = @id');
const capOfOwner = capOn(`aliases where ${OF_OWNER}`);

export const aliasOperations: AliasOperations = {
  *setAlias({ cap, memberId, name, models }, now) {
    const refusal = yield* nestingOf({ memberId, name, models });
    if (refusal !== null) return refusal;
    const old = yield* findAlias(memberId, name);
    const full = old === null ? yield* capOfOwner(cap, { memberId }) : null;
    if (full !== null) return full;
    const chain = JSON.stringify(models);
    if (old === null) yield* insert.run({ id: ulid(now), memberId, name, models: chain, now });
    else yield* update.run({ id: old.id, models: chain, now });
    const value = yield* findAlias(memberId, name);
    if (value === null) throw new Error(`the alias ${name} that was just set is not there`);
    const before = old?.models ?? null;
    if (JSON.stringify(before) !== chain) {
      const sides = { before: old && { models: old.models }, after: describe(value) };
      yield* record({ action: 'alias.set', subject: subjectOf(value), ...sides });
    }
    return { kind: 'set', value, before };
  },

  *removeAlias(memberId, name) {
    const alias = yield* findAlias(memberId, name);
    if (alias === null) return false;
    yield* remove.run({ id: alias.id });
    const [subject, before] = [subjectOf(alias), describe(alias)];
    yield* record({ action: 'alias.remove', subject, before, after: null });
    return true;
  },

  *listAliases() {
    return (yield* list.all({})).map(decode);
  },
};

interface NamedChain {
  readonly memberId: string | null;
  readonly name: string;
  readonly models: readonly string[];
}

type Nesting = { kind: 'names_alias' | 'named_by'; alias: string };

const named = valueOf<object, string>(
  `select name from aliases where ${OF_OWNER}
     and name in (select value from json_each(@models)) order by name limit 1`,
);
const naming = valueOf<object, string>(
  `select name from aliases where ${OF_OWNER} and name <> @name
     and @name in (select value from json_each(models)) order by name limit 1`,
);

function* nestingOf({ memberId, name, models }: NamedChain): Operation<Nesting | null> {
  const inside = yield* named.get({ memberId, models: JSON.stringify(models) });
  if (inside !== undefined) return { kind: 'names_alias', alias: inside };
  const around = yield* naming.get({ memberId, name });
  return around === undefined ? null : { kind: 'named_by', alias: around };
}

const aliasOfOwner = statement<{ memberId: string | null; name: string }, Row>(
  `${SELECT} where coalesce(a.member_id, '') = coalesce(@memberId, '') and a.name = @name`,
);

function* findAlias(memberId: string | null, name: string): Operation<StoredAlias | null> {
  const row = yield* aliasOfOwner.get({ memberId, name });
  return row === undefined ? null : decode(row);
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
