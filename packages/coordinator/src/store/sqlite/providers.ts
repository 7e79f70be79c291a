import type { Database } from 'better-sqlite3';
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { Provider } from '../port.js';
import type { Operations } from './operations.js';

type ProviderOperations = Pick<
  Operations,
  'findProviderByToken' | 'listProviders' | 'setProviderDraining' | 'recordProviderSeen'
>;

interface Row {
  id: string;
  owner_id: string;
  owner_name: string;
  name: string;
  created_at: number;
  last_seen_at: number | null;
  draining: 0 | 1;
  services: string | null;
  host: string | null;
}

const SELECT = `select p.*, m.name as owner_name, s.services, s.host
  from providers p join members m on m.id = p.owner_id
  left join provider_snapshots s on s.provider_id = p.id`;

export function providerOperations(database: Database): ProviderOperations {
  const byToken = database.prepare<[string], Row>(`${SELECT} where p.token_hash = ?`);
  const list = database.prepare<[], Row>(`${SELECT} order by p.created_at, p.id`);
  const drain = database.prepare('update providers set draining = @draining where id = @id');
  const seenAt = database.prepare(
    'update providers set last_seen_at = max(coalesce(last_seen_at, 0), @now) where id = @id',
  );
  // What is null was not told this time, and stays.
  const snapshot = database.prepare(
    `insert into provider_snapshots (provider_id, services, host)
     values (@id, coalesce(@services, '[]'), @host)
     on conflict (provider_id) do update set
       services = coalesce(@services, services), host = coalesce(@host, host)`,
  );
  return {
    findProviderByToken: (hash) => {
      const row = byToken.get(hash);
      return row === undefined ? null : decode(row);
    },
    listProviders: () => list.all().map(decode),
    setProviderDraining: (id, draining) =>
      drain.run({ id, draining: draining ? 1 : 0 }).changes === 1,
    recordProviderSeen: (id, { services, host }, now) => {
      const isKnown = seenAt.run({ id, now }).changes === 1;
      if (!isKnown || (services === undefined && host === undefined)) return;
      snapshot.run({ id, services: toJson(services), host: toJson(host) });
    },
  };
}

/** The provider that was just written. */
export function findProvider(database: Database, id: string): Provider {
  const row = database.prepare<[string], Row>(`${SELECT} where p.id = ?`).get(id);
  if (row === undefined) throw new Error(`the provider ${id} is not there`);
  return decode(row);
}

/** `anna-pc`, or the first of `anna-pc-2`, `anna-pc-3`, … that the owner has not given yet. */
export function freeName(
  database: Database,
  owner: { readonly owner_id: string; readonly owner_name: string },
): string {
  const taken = database
    .prepare<[string], string>('select lower(name) from providers where owner_id = ?')
    .pluck()
    .all(owner.owner_id);
  const stem = `${owner.owner_name.slice(0, MAX_STEM)}-pc`;
  const names = [stem, ...taken.map((_, i) => `${stem}-${i + 2}`)];
  return names.find((name) => !taken.includes(asciiLower(name))) ?? stem;
}

/** A name has at most 64 characters, of which `-pc-12345` takes nine. */
const MAX_STEM = 55;

/** As SQLite's NOCASE and lower() fold: other letters than ASCII's stay as they are. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function decode(row: Row): Provider {
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    name: row.name,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    draining: row.draining === 1,
    services: JSON.parse(row.services ?? '[]') as AdvertisedService[],
    host: JSON.parse(row.host ?? 'null') as AgentHost | null,
  };
}
