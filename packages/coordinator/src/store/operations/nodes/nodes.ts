/** The coordinators that share the database, and their secrets. */
import { randomId } from '@inference-gateway/shared/ids';
import { NODE_SILENT_MS } from '../../port.js';
import type { NodeKey, NodeRow, NodeStore, SecretPurpose } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { closeLeft } from '../providers/presence.js';
import { context, lock, statement, valueOf } from '../statement.js';
import type { Operation, SqlText } from '../statement.js';

type NodeOperations = Pick<Operations, Exclude<keyof NodeStore, 'holdsUpkeep'>>;

/** Keys before the newest one: links that use them are still being opened. */
const OLD_KEY_MS = 86_400_000;

/** Coordinators with generated names come and go. */
const FORGOTTEN_AFTER_MS = 7 * 86_400_000;

const DATABASE_CLOCK = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** With the time of the database's clock in place of `NOW`. */
function atNow(text: string): Exclude<SqlText, string> {
  return {
    sqlite: text.replaceAll('NOW', '@now'),
    postgres: text.replaceAll('NOW', DATABASE_CLOCK),
  };
}

interface Row {
  id: string;
  url: string | null;
  version: string | null;
  started_at: number | null;
  reported_at: number | null;
  is_alive: 0 | 1;
  draining: 0 | 1;
  agents: number;
}

const list = statement<{ now: number }, Row>(
  atNow(
    `select id, url, version, started_at, reported_at, draining, agents,
       stopped_at is null and coalesce(reported_at, 0) > NOW - ${NODE_SILENT_MS} as is_alive
     from nodes order by id`,
  ),
);
/** For the doctor, which has no engine: on PostgreSQL. */
export const RUNNING_NODES = `select id as name, url from nodes
  where stopped_at is null and reported_at > ${DATABASE_CLOCK} - ${NODE_SILENT_MS} order by id`;

const report = statement(
  atNow(
    `update nodes set url = @url, version = @version, agents = @agents, seen_at = @now,
       reported_at = NOW, stopped_at = null,
       started_at = case when @isNew = 1 then NOW else coalesce(started_at, NOW) end
     where id = @nodeId`,
  ),
);
const add = statement(
  `insert into nodes (id, epoch, seen_at) values (@nodeId, 1, @now) on conflict (id) do nothing`,
);
const leave = statement(atNow('update nodes set stopped_at = NOW, agents = 0 where id = @nodeId'));
const drain = statement<{ name: string; draining: 0 | 1 }>(
  'update nodes set draining = @draining where id = @name',
);
const DEAD = `stopped_at is not null or coalesce(reported_at, 0) <= NOW - `;
const endLinksOf = statement<{ name: string; now: number }>(
  'update provider_links set ended_at = @now where node_id = @name and ended_at is null',
);
// Locked: it may report again meanwhile.
const dead = atNow(`select 1 from nodes where id = @name and (${DEAD}${NODE_SILENT_MS})`);
const mayRemove = valueOf<{ name: string; now: number }, number>({
  sqlite: dead.sqlite,
  postgres: `${dead.postgres} for update`,
});
const remove = statement<{ name: string }>('delete from nodes where id = @name');
const longDead = valueOf<{ nodeId: string; now: number }, string>(
  atNow(`select id from nodes where id <> @nodeId and reported_at <= NOW - ${FORGOTTEN_AFTER_MS}`),
);
const known = valueOf<{ name: string }, number>('select 1 from nodes where id = @name');

const secretsOf = statement<{ purpose: SecretPurpose; now: number }, SecretRow>(
  atNow(
    `select id, secret, NOW - created_at as age from secrets
     where purpose = @purpose order by created_at desc, id desc`,
  ),
);
const addSecret = statement(
  atNow(
    'insert into secrets (id, purpose, secret, created_at) values (@id, @purpose, @secret, NOW)',
  ),
);
const forgetKeys = statement<{ now: number }>(
  atNow(`delete from secrets where purpose = 'node links' and created_at < NOW - ${OLD_KEY_MS}`),
);

interface SecretRow {
  id: string;
  secret: Uint8Array;
  age: number;
}

export const nodeOperations: NodeOperations = {
  *reportNode({ url, version, agents, isNew }, freshKey, now) {
    const { nodeId } = yield* context();
    const row = { nodeId, url, version, agents, isNew: isNew ? 1 : 0, now };
    if ((yield* report.run(row)) === 0) {
      yield* add.run({ nodeId, now });
      yield* report.run(row);
    }
    if (isNew) {
      for (const name of yield* longDead.all({ nodeId, now })) yield* removeNode(name, now);
    }
    const rows = yield* list.all({ now });
    const keys = yield* secrets('node links', freshKey, now);
    return { nodes: rows.map(decode), keys: keys.map(toKey) };
  },

  *leaveNode(now) {
    const { nodeId } = yield* context();
    yield* leave.run({ nodeId, now });
  },

  *listNodes(now) {
    return (yield* list.all({ now })).map(decode);
  },

  *setNodeDraining(name, draining) {
    const isKnown = (yield* drain.run({ name, draining: draining ? 1 : 0 })) === 1;
    if (isKnown) yield* recordNode(name, draining ? 'node.drain' : 'node.undrain');
    return isKnown;
  },

  *removeNode(name, now) {
    if (yield* removeNode(name, now)) {
      yield* recordNode(name, 'node.remove');
      return 'removed';
    }
    return (yield* known.get({ name })) === undefined ? 'unknown' : 'alive';
  },

  *rotateNodeKey(freshKey, now) {
    yield* forgetKeys.run({ now });
    yield* addSecret.run({ id: randomId(), purpose: 'node links', secret: freshKey, now });
    yield* recordNode('all', 'node.rotate-key');
  },

  *sharedSecret(purpose, fresh, now) {
    const oldest = (yield* secrets(purpose, fresh, now)).at(-1);
    return oldest?.secret ?? fresh;
  },
};

function* removeNode(name: string, now: number): Operation<boolean> {
  if ((yield* mayRemove.get({ name, now })) === undefined) return false;
  yield* closeLeft(name);
  yield* remove.run({ name });
  yield* endLinksOf.run({ name, now });
  return true;
}

/** Makes the first one, if there is none. */
function* secrets(
  purpose: SecretPurpose,
  fresh: Uint8Array,
  now: number,
): Operation<readonly SecretRow[]> {
  const found = yield* secretsOf.all({ purpose, now });
  if (found.length > 0) return found;
  yield* lock('secrets');
  const meanwhile = yield* secretsOf.all({ purpose, now });
  if (meanwhile.length > 0) return meanwhile;
  yield* addSecret.run({ id: randomId(), purpose, secret: fresh, now });
  return yield* secretsOf.all({ purpose, now });
}

function* recordNode(name: string, action: string): Operation<void> {
  const subject = { kind: 'node', id: name, name };
  yield* record({ action, subject, before: null, after: null });
}

function decode(row: Row): NodeRow {
  return {
    name: row.id,
    url: row.url,
    version: row.version,
    startedAt: row.started_at,
    reportedAt: row.reported_at,
    isAlive: row.is_alive === 1,
    draining: row.draining === 1,
    agents: row.agents,
  };
}

function toKey({ id, secret, age }: SecretRow): NodeKey {
  return { id, secret, ageMs: age };
}
