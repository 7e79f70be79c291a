import type { Database } from 'better-sqlite3';
import type { ShareSubject, SharingFacts } from '../../../core/access/sharing.js';
import { toCaps } from './share-caps.js';
import type { CapColumns } from './share-caps.js';

type Fact<Kind extends keyof SharingFacts> = SharingFacts[Kind][number];

interface ShareRow extends ShareSubject, CapColumns {
  readonly id: string;
  readonly providerId: string;
  readonly networkId: string | null;
  readonly memberId: string | null;
}

/**
 * Reads all of it at once, and all of one moment: only the connection that reads here writes. Five
 * narrow reads, because a join would repeat each provider for every member of every network: 11 ms
 * with 1,000 providers and 3,000 shares, the way to the main thread included.
 */
export function sharingFactsReader(database: Database): () => SharingFacts {
  const providers = database.prepare<
    [],
    { id: string; ownerId: string; approvedAt: number | null }
  >('select id, owner_id as ownerId, approved_at as approvedAt from providers');
  const disabled = database
    .prepare<[], string>('select id from members where disabled_at is not null')
    .pluck();
  const memberships = database.prepare<[], Fact<'memberships'>>(
    'select network_id as networkId, member_id as memberId from network_members',
  );
  const shares = database.prepare<[], ShareRow>(
    `select id, provider_id as providerId, service_id as serviceId, model,
       network_id as networkId, member_id as memberId,
       max_slots, max_tokens, hours_from, hours_until, hours_zone
     from shares order by created_at, rowid`,
  );
  const blocks = database.prepare<[], Fact<'blocks'>>(
    'select owner_id as ownerId, member_id as memberId from blocks',
  );
  return () => ({
    providers: providers.all().map(toProvider),
    disabledMembers: disabled.all(),
    memberships: memberships.all(),
    shares: shares.all().map(toShare),
    blocks: blocks.all(),
  });
}

function toProvider(row: {
  readonly id: string;
  readonly ownerId: string;
  readonly approvedAt: number | null;
}): Fact<'providers'> {
  return { id: row.id, ownerId: row.ownerId, approved: row.approvedAt !== null };
}

function toShare(row: ShareRow): Fact<'shares'> {
  const { id, providerId, serviceId, model, networkId, memberId } = row;
  return { id, providerId, serviceId, model, networkId, memberId, caps: toCaps(row) };
}
