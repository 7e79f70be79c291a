import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { Database } from 'better-sqlite3';
import type { Asset, AssetLimits, AssetQuery, AssetSpace, AssetStore } from '../../port.js';
import type { Operations } from '../engine/operations.js';

type AssetOperations = Pick<Operations, keyof AssetStore>;

export interface AssetRow {
  id: string;
  member_id: string;
  key_id: string | null;
  provider_id: string | null;
  request_id: string;
  model: string;
  endpoint: EndpointKey;
  content_type: string;
  bytes: number;
  sha256: string;
  seconds: number | null;
  created_at: number;
  expires_at: number;
}

export const ASSET_COLUMNS = `assets.id, assets.member_id, assets.key_id, assets.provider_id,
  assets.request_id, assets.model, assets.endpoint, assets.content_type, assets.bytes,
  assets.sha256, assets.seconds, assets.created_at, assets.expires_at`;

/** Files of the API have operations of their own. */
const IS_MADE = 'not exists (select 1 from files where asset_id = assets.id)';

export function assetOperations(database: Database): AssetOperations {
  const find = database.prepare<[string], AssetRow>(
    `select ${ASSET_COLUMNS} from assets where id = ? and ${IS_MADE}`,
  );
  const findLinked = database.prepare<[string], AssetRow>(
    `select ${ASSET_COLUMNS} from assets join members on members.id = member_id
     where assets.id = ? and members.disabled_at is null and ${IS_MADE}`,
  );
  const remove = database.prepare<{ id: string; memberId: string | null }>(
    'delete from assets where id = @id and (@memberId is null or member_id = @memberId)',
  );
  const expired = `select id from assets where expires_at <= ? and id not in (
      select input_file_id from file_batches where ended_at is null)
    order by expires_at, id limit ?`;
  const listExpired = database.prepare<[number, number], string>(expired).pluck();
  const takeExpired = database
    .prepare<[number, number], string>(`delete from assets where id in (${expired}) returning id`)
    .pluck();
  const known = database
    .prepare<[string], string>('select id from assets where id in (select value from json_each(?))')
    .pluck();
  const spaceOf = spaceReader(database);
  const list = pageReader(database);
  const write = assetWriter(database);
  return {
    createAsset: (asset, limits) => write([asset], limits),
    findAsset: (id) => assetOrNull(find.get(id)),
    findLinkedAsset: (id) => assetOrNull(findLinked.get(id)),
    listAssets: (query) =>
      list(query, query.after === null ? null : assetOrNull(find.get(query.after))),
    deleteAsset: (id, memberId) => remove.run({ id, memberId }).changes === 1,
    assetSpace: spaceOf,
    listExpiredAssets: (now, limit) => listExpired.all(now, limit),
    takeExpiredAssets: (now, limit) => takeExpired.all(now, limit),
    knownAssets: (ids) => known.all(JSON.stringify(ids)),
  };
}

/** Writes the rows of one member's files, or none of them if there is no space for all. */
export function assetWriter(
  database: Database,
): (assets: readonly Asset[], limits: AssetLimits) => 'created' | 'member_full' | 'full' {
  const insert = database.prepare<Asset>(
    `insert into assets (
       id, member_id, key_id, provider_id, request_id, model, endpoint, content_type, bytes,
       sha256, seconds, created_at, expires_at)
     values (
       @id, @memberId, @keyId, @providerId, @requestId, @model, @endpoint, @contentType, @bytes,
       @sha256, @seconds, @createdAt, @expiresAt)`,
  );
  const spaceOf = spaceReader(database);
  return (assets, limits) => {
    const [first] = assets;
    if (first === undefined) return 'created';
    // Only this connection writes, and an operation runs without a pause: the sums still hold at
    // the insert.
    const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0);
    const refusal = refusalOf(bytes, limits, spaceOf(first.memberId));
    if (refusal === null) for (const asset of assets) insert.run(asset);
    return refusal ?? 'created';
  };
}

function refusalOf(
  bytes: number,
  limits: AssetLimits,
  spent: AssetSpace,
): 'member_full' | 'full' | null {
  if (spent.memberBytes + bytes > limits.memberBytes) return 'member_full';
  return spent.totalBytes + bytes > limits.totalBytes ? 'full' : null;
}

function spaceReader(database: Database): (memberId: string) => AssetSpace {
  const bytesOf = database
    .prepare<[string], number>('select bytes from asset_space where member_id = ?')
    .pluck();
  return (memberId) => ({
    memberBytes: bytesOf.get(memberId) ?? 0,
    totalBytes: bytesOf.get('') ?? 0,
  });
}

type Page = Pick<AssetQuery, 'memberId' | 'limit'> & {
  keyId: string | null;
  createdAt: number;
  id: string;
};

/** Two statements, each with its own index: one statement for both could use neither. */
function pageReader(database: Database) {
  const order = `${IS_MADE} and (created_at, id) < (@createdAt, @id)
    order by created_at desc, id desc limit @limit`;
  const own = database.prepare<Page, AssetRow>(
    `select ${ASSET_COLUMNS} from assets
     where member_id = @memberId and (@keyId is null or key_id = @keyId) and ${order}`,
  );
  const all = database.prepare<Page, AssetRow>(
    `select ${ASSET_COLUMNS} from assets where ${order}`,
  );
  return (query: AssetQuery, last: Asset | null): Asset[] => {
    const { memberId, keyId = null, limit, after } = query;
    if (after !== null && !isIn(query, last)) return [];
    const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
    const page = { memberId, keyId, limit, createdAt, id };
    return (memberId === null ? all : own).all(page).map(toAsset);
  };
}

/** Paging must not reveal whether another's asset exists, or when it was created. */
function isIn({ memberId, keyId = null }: AssetQuery, asset: Asset | null): boolean {
  if (asset === null || (memberId !== null && asset.memberId !== memberId)) return false;
  return keyId === null || asset.keyId === keyId;
}

function assetOrNull(row: AssetRow | undefined): Asset | null {
  return row === undefined ? null : toAsset(row);
}

export function toAsset(row: AssetRow): Asset {
  return {
    id: row.id,
    memberId: row.member_id,
    keyId: row.key_id,
    providerId: row.provider_id,
    requestId: row.request_id,
    model: row.model,
    endpoint: row.endpoint,
    contentType: row.content_type,
    bytes: row.bytes,
    sha256: row.sha256,
    seconds: row.seconds,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
