import type { Database } from 'better-sqlite3';
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { AuditSubject, Changed, Provider } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import type { Operations } from '../engine/operations.js';

type ProviderReads = Pick<
  Operations,
  'findProviderByToken' | 'listProviders' | 'countWaitingProviders'
>;
type ProviderChanges = Pick<
  Operations,
  | 'setProviderDraining'
  | 'setProviderPaused'
  | 'approveProvider'
  | 'renameProvider'
  | 'removeProvider'
>;

interface Row {
  id: string;
  owner_id: string;
  owner_name: string;
  owner_disabled_at: number | null;
  name: string;
  created_at: number;
  approved_at: number | null;
  last_seen_at: number | null;
  draining: 0 | 1;
  paused: 0 | 1;
  services: string | null;
  host: string | null;
}

const SELECT = `select p.id, p.owner_id, p.name, p.created_at, p.approved_at, p.last_seen_at,
    p.draining, p.paused, m.name as owner_name, m.disabled_at as owner_disabled_at,
    s.services, s.host
  from providers p join members m on m.id = p.owner_id
  left join provider_snapshots s on s.provider_id = p.id`;

export function providerOperations(
  database: Database,
  trail: AuditTrail,
): ProviderReads & ProviderChanges {
  return { ...providerReads(database), ...providerChanges(database, trail) };
}

function providerReads(database: Database): ProviderReads {
  const byToken = database.prepare<[string], Row>(`${SELECT} where p.token_hash = ?`);
  const list = database.prepare<[], Row>(`${SELECT} order by p.created_at, p.id`);
  const own = database.prepare<[string], Row>(
    `${SELECT} where p.owner_id = ? order by p.created_at, p.id`,
  );
  const waiting = database
    .prepare<[], number>(
      `select count(*) from providers p join members m on m.id = p.owner_id
       where p.approved_at is null and m.disabled_at is null`,
    )
    .pluck();
  return {
    findProviderByToken: (hash) => {
      const row = byToken.get(hash);
      return row === undefined ? null : decode(row);
    },
    countWaitingProviders: () => waiting.get() ?? 0,
    listProviders: (ownerId) => (ownerId === undefined ? list.all() : own.all(ownerId)).map(decode),
  };
}

/**
 * Only this connection writes, and an operation runs synchronously, so the provider that is read
 * for the audit log is the one that is changed.
 */
function providerChanges(database: Database, trail: AuditTrail): ProviderChanges {
  const find = providerFinder(database);
  const approve = database.prepare(
    'update providers set approved_at = @now where id = @id and approved_at is null',
  );
  return {
    setProviderDraining: switcher(database, trail, {
      field: 'draining',
      actions: ['provider.drain', 'provider.resume'],
    }),
    setProviderPaused: switcher(database, trail, {
      field: 'paused',
      actions: ['provider.pause', 'provider.unpause'],
    }),
    approveProvider: (id, now) => {
      const provider = find(id);
      if (provider === null || approve.run({ id, now }).changes === 0) return false;
      const [subject, before] = [providerSubject(provider), { approved: false }];
      trail.record({ action: 'provider.approve', subject, before, after: { approved: true } });
      return true;
    },
    renameProvider: renamer(database, trail),
    removeProvider: remover(database, trail),
  };
}

interface Switch {
  readonly field: 'draining' | 'paused';
  /** The actions in the audit log. */
  readonly actions: readonly [on: string, off: string];
}

/** Writes and records only a change. */
function switcher(
  database: Database,
  trail: AuditTrail,
  { field, actions }: Switch,
): (id: string, isOn: boolean) => boolean {
  const find = providerFinder(database);
  const update = database.prepare(`update providers set ${field} = @value where id = @id`);
  return (id, isOn) => {
    const provider = find(id);
    if (provider === null || provider[field] === isOn) return provider !== null;
    update.run({ id, value: isOn ? 1 : 0 });
    const [before, after] = [{ [field]: !isOn }, { [field]: isOn }];
    const action = isOn ? actions[0] : actions[1];
    trail.record({ action, subject: providerSubject(provider), before, after });
    return true;
  };
}

function renamer(database: Database, trail: AuditTrail): Operations['renameProvider'] {
  const find = providerFinder(database);
  const rename = database.prepare(
    `update providers set name = @name where id = @id and not exists
       (select 1 from providers as other
        where other.owner_id = providers.owner_id and other.name = @name and other.id <> @id)`,
  );
  return (id, name): Changed<Provider> => {
    const provider = find(id);
    if (provider === null) return { kind: 'unknown' };
    if (rename.run({ id, name }).changes === 0) return { kind: 'taken', field: 'name' };
    const [subject, before] = [providerSubject(provider), { name: provider.name }];
    trail.recordChange({ action: 'provider.rename', subject, before, after: { name } });
    return { kind: 'changed', value: { ...provider, name } };
  };
}

function remover(database: Database, trail: AuditTrail): Operations['removeProvider'] {
  const find = providerFinder(database);
  const shares = database
    .prepare<[string], number>('select count(*) from shares where provider_id = ?')
    .pluck();
  const remove = database.prepare('delete from providers where id = ?');
  // The next sweep finds these jobs, and treats them like those of a lost agent.
  const endLeases = database.prepare(
    `update jobs indexed by jobs_provider set lease_until = min(lease_until, @now)
     where status = 'PROCESSING' and provider_id = @id`,
  );
  return (id, now) => {
    const provider = find(id);
    if (provider === null) return false;
    const before = { name: provider.name, shares: shares.get(id) ?? 0 };
    remove.run(id);
    endLeases.run({ id, now });
    const subject = providerSubject(provider);
    trail.record({ action: 'provider.remove', subject, before, after: null });
    return true;
  };
}

/** Finds a provider by its id; null if there is none. */
export function providerFinder(database: Database): (id: string) => Provider | null {
  const find = database.prepare<[string], Row>(`${SELECT} where p.id = ?`);
  return (id) => {
    const row = find.get(id);
    return row === undefined ? null : decode(row);
  };
}

export function providerSubject({ id, ownerName, name }: Provider): AuditSubject {
  return { kind: 'provider', id, name: `${ownerName}/${name}` };
}

function decode(row: Row): Provider {
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    isOwnerDisabled: row.owner_disabled_at !== null,
    name: row.name,
    createdAt: row.created_at,
    approvedAt: row.approved_at,
    lastSeenAt: row.last_seen_at,
    draining: row.draining === 1,
    paused: row.paused === 1,
    services: JSON.parse(row.services ?? '[]') as AdvertisedService[],
    host: JSON.parse(row.host ?? 'null') as AgentHost | null,
  };
}
