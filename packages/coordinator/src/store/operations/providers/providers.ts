import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { AuditSubject, Provider } from '../../port.js';
import { record, recordChange } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

type ProviderOperations = Pick<
  Operations,
  | 'findProviderByToken'
  | 'listProviders'
  | 'countWaitingProviders'
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

const byToken = statement<{ hash: string }, Row>(`${SELECT} where p.token_hash = @hash`);
const list = statement<object, Row>(`${SELECT} order by p.created_at, p.id`);
const own = statement<{ ownerId: string }, Row>(
  `${SELECT} where p.owner_id = @ownerId order by p.created_at, p.id`,
);
const waiting = valueOf<object, number>(
  `select count(*) from providers p join members m on m.id = p.owner_id
   where p.approved_at is null and m.disabled_at is null`,
);
const approve = statement<{ id: string; now: number }>(
  'update providers set approved_at = @now where id = @id and approved_at is null',
);
const rename = statement<{ id: string; name: string }>(
  `update providers set name = @name where id = @id and not exists
     (select 1 from providers as other
      where other.owner_id = providers.owner_id and other.name = @name and other.id <> @id)`,
);
const sharesOf = valueOf<{ id: string }, number>(
  'select count(*) from shares where provider_id = @id',
);
const remove = statement<{ id: string }>('delete from providers where id = @id');
// The next sweep finds these jobs, and treats them like those of a lost agent.
const endLeases = statement<{ id: string; now: number }>(
  `update jobs indexed by jobs_provider
   set lease_until = case when lease_until > @now then @now else lease_until end
   where status = 'PROCESSING' and provider_id = @id`,
);

export const providerOperations: ProviderOperations = {
  *findProviderByToken(hash) {
    const row = yield* byToken.get({ hash });
    return row === undefined ? null : decode(row);
  },

  *countWaitingProviders() {
    return (yield* waiting.get({})) ?? 0;
  },

  *listProviders(ownerId) {
    const rows = yield* ownerId === undefined ? list.all({}) : own.all({ ownerId });
    return rows.map(decode);
  },

  setProviderDraining: switcher({
    field: 'draining',
    actions: ['provider.drain', 'provider.resume'],
  }),

  setProviderPaused: switcher({
    field: 'paused',
    actions: ['provider.pause', 'provider.unpause'],
  }),

  *approveProvider(id, now) {
    const provider = yield* findProviderById(id);
    if (provider === null || (yield* approve.run({ id, now })) === 0) return false;
    const [subject, before] = [providerSubject(provider), { approved: false }];
    yield* record({ action: 'provider.approve', subject, before, after: { approved: true } });
    return true;
  },

  *renameProvider(id, name) {
    const provider = yield* findProviderById(id);
    if (provider === null) return { kind: 'unknown' };
    if ((yield* rename.run({ id, name })) === 0) return { kind: 'taken', field: 'name' };
    const [subject, before] = [providerSubject(provider), { name: provider.name }];
    yield* recordChange({ action: 'provider.rename', subject, before, after: { name } });
    return { kind: 'changed', value: { ...provider, name } };
  },

  *removeProvider(id, now) {
    const provider = yield* findProviderById(id);
    if (provider === null) return false;
    const before = { name: provider.name, shares: (yield* sharesOf.get({ id })) ?? 0 };
    yield* remove.run({ id });
    yield* endLeases.run({ id, now });
    const subject = providerSubject(provider);
    yield* record({ action: 'provider.remove', subject, before, after: null });
    return true;
  },
};

interface Switch {
  readonly field: 'draining' | 'paused';
  /** The actions in the audit log. */
  readonly actions: readonly [on: string, off: string];
}

/** Writes and records only a change. */
function switcher({
  field,
  actions,
}: Switch): Operations['setProviderDraining' | 'setProviderPaused'] {
  const update = statement<{ id: string; value: 0 | 1 }>(
    `update providers set ${field} = @value where id = @id`,
  );
  return function* (id, isOn) {
    const provider = yield* findProviderById(id);
    if (provider === null || provider[field] === isOn) return provider !== null;
    yield* update.run({ id, value: isOn ? 1 : 0 });
    const [before, after] = [{ [field]: !isOn }, { [field]: isOn }];
    const action = isOn ? actions[0] : actions[1];
    yield* record({ action, subject: providerSubject(provider), before, after });
    return true;
  };
}

const byId = statement<{ id: string }, Row>(`${SELECT} where p.id = @id`);

/** Null if there is none. */
export function* findProviderById(id: string): Operation<Provider | null> {
  const row = yield* byId.get({ id });
  return row === undefined ? null : decode(row);
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
