import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { Asset, AssetLimits, AssetQuery, AssetSpace } from '../../port.js';
import type { AssetStore, NewAsset } from '../../port.js';
import { BATCH_LABEL, CUSTOM_ID } from '../jobs/job-rows.js';
import type { Operations } from '../operations.js';
import { isFound, searched, searchTexts } from '../search.js';
import type { SearchTexts } from '../search.js';
import { lock, statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

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

const find = statement<{ id: string }, AssetRow>(
  `select ${ASSET_COLUMNS} from assets where id = @id and ${IS_MADE}`,
);
const findLinked = statement<{ id: string }, AssetRow>(
  `select ${ASSET_COLUMNS} from assets join members on members.id = member_id
   where assets.id = @id and members.disabled_at is null and ${IS_MADE}`,
);
const remove = statement<{ id: string; memberId: string | null }>(
  'delete from assets where id = @id and (member_id = @memberId or @memberId is null)',
);
const EXPIRED = `select id from assets where expires_at <= @now and id not in (
    select input_file_id from file_batches where ended_at is null)
  order by expires_at, id limit @limit`;
const listExpired = valueOf<{ now: number; limit: number }, string>(EXPIRED);
const takeExpired = valueOf<{ now: number; limit: number }, string>(
  `delete from assets where id in (${EXPIRED}) returning id`,
);
const known = valueOf<{ ids: string }, string>(
  'select id from assets where id in (select value from json_each(@ids))',
);

const isMember = valueOf<{ memberId: string }, number>(
  'select 1 from members where id = @memberId',
);

export const assetOperations: AssetOperations = {
  *createAsset(asset, limits) {
    // The lock also keeps the member until the row is written.
    yield* lockAssets();
    const { memberId } = asset;
    if ((yield* isMember.get({ memberId })) === undefined) return 'member_gone';
    return yield* writeAssets([asset], limits);
  },

  *findAsset(id) {
    return assetOrNull(yield* find.get({ id }));
  },

  *findLinkedAsset(id) {
    return assetOrNull(yield* findLinked.get({ id }));
  },

  listAssets,

  *assetSearchEnd(query, rows) {
    const { memberId, keyId = null, after } = query;
    const last = after === null ? null : assetOrNull(yield* find.get({ id: after }));
    if (after !== null && !isIn(query, last)) return null;
    const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
    const asked = { memberId, keyId, createdAt, id, limit: 2, rows: rows - 1 };
    const [found = null, ...others] = yield* lastOfMember.all(asked);
    return others.length === 0 ? null : found;
  },

  *deleteAsset(id, memberId) {
    return (yield* remove.run({ id, memberId })) === 1;
  },

  *assetSpace(memberId) {
    const { memberBytes, totalBytes } = yield* spaceOf(memberId);
    return { memberBytes, totalBytes };
  },

  *listExpiredAssets(now, limit) {
    return yield* listExpired.all({ now, limit });
  },

  *takeExpiredAssets(now, limit) {
    yield* lockAssets();
    return yield* takeExpired.all({ now, limit });
  },

  *knownAssets(ids) {
    return yield* known.all({ ids: JSON.stringify(ids) });
  },
};

export function* listAssets(query: AssetQuery): Operation<Asset[]> {
  const { memberId, keyId = null, search = null, limit, after } = query;
  const last = after === null ? null : assetOrNull(yield* find.get({ id: after }));
  if (after !== null && !isIn(query, last)) return [];
  const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
  const { until = null } = query;
  const end = until === null ? null : assetOrNull(yield* find.get({ id: until }));
  const { createdAt: endAt, id: endId } = end ?? { createdAt: 0, id: '' };
  const bounds = { createdAt, id, endAt, endId };
  const page = { memberId, keyId, ...searchTexts(search), limit, ...bounds };
  return (yield* (memberId === null ? pageOfAll : pageOfMember).all(page)).map(toAsset);
}

/**
 * Taken before the space is read for new assets, so that it still holds when they are written, and
 * before it is read whether a batch needs a file.
 */
export function lockAssets(): Operation<void> {
  return lock(ASSETS_LOCK);
}

/** The name of that lock. */
export const ASSETS_LOCK = 'assets';

const insert = statement<NewAsset>(
  `insert into assets (
     id, member_id, key_id, provider_id, request_id, model, endpoint, content_type, bytes,
     sha256, seconds, created_at, expires_at, excerpt)
   values (
     @id, @memberId, @keyId, @providerId, @requestId, @model, @endpoint, @contentType, @bytes,
     @sha256, @seconds, @createdAt, @expiresAt, @excerpt)`,
);

/** Writes the rows of one member's files, or none of them if there is no space for all. */
export function* writeAssets(
  assets: readonly NewAsset[],
  limits: AssetLimits,
): Operation<'created' | 'member_full' | 'full'> {
  const [first] = assets;
  if (first === undefined) return 'created';
  yield* lockAssets();
  const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0);
  const spent = yield* spaceOf(first.memberId);
  const refusal = refusalOf(bytes, limits, spent);
  if (refusal !== null) return refusal;
  const isKept = spent.excerpts === 1;
  yield* insert.each(
    assets.map(({ excerpt = null, ...asset }) => ({ ...asset, excerpt: isKept ? excerpt : null })),
  );
  return 'created';
}

function refusalOf(
  bytes: number,
  limits: AssetLimits,
  spent: AssetSpace,
): 'member_full' | 'full' | null {
  if (spent.memberBytes + bytes > limits.memberBytes) return 'member_full';
  return spent.totalBytes + bytes > limits.totalBytes ? 'full' : null;
}

interface Space extends AssetSpace {
  /** Whether excerpts of the member's requests are kept. */
  readonly excerpts: 0 | 1;
}

const space = statement<{ memberId: string }, Space>(
  `select
     coalesce((select bytes from asset_space where member_id = @memberId), 0) as "memberBytes",
     coalesce((select bytes from asset_space where member_id = ''), 0) as "totalBytes",
     coalesce((select excerpts from members where id = @memberId), 0) as excerpts`,
);

function* spaceOf(memberId: string): Operation<Space> {
  return (yield* space.get({ memberId })) ?? { memberBytes: 0, totalBytes: 0, excerpts: 0 };
}

type Page = Pick<AssetQuery, 'memberId' | 'limit'> &
  SearchTexts & {
    keyId: string | null;
    createdAt: number;
    id: string;
    /** The last one. */
    endAt: number;
    endId: string;
  };

interface Searching {
  readonly memberId: string;
  readonly rows: number;
}

/** The job of a row of `assets`, with the names that its batch has for it. */
const ofJob = (column: string): string => `(select ${column} from jobs
    where id = (select job_id from job_assets where asset_id = assets.id limit 1))`;

export const CUSTOM_ID_OF_ASSET = ofJob(CUSTOM_ID);
export const BATCH_LABEL_OF_ASSET = ofJob(BATCH_LABEL);

// Two statements, each with its own index: one statement for both could use neither.
const ORDER = `${IS_MADE} and (created_at, id) < (@createdAt, @id)
  order by created_at desc, id desc limit @limit`;
const pageOfMember = statement<Page, AssetRow>(
  `select ${ASSET_COLUMNS} from assets
   where member_id = @memberId and (key_id = @keyId or @keyId is null)
     and (created_at, id) >= (@endAt, @endId)
     and ${isFound(searched('excerpt', 'model', CUSTOM_ID_OF_ASSET, BATCH_LABEL_OF_ASSET))}
     and ${ORDER}`,
);
const lastOfMember = valueOf<
  Pick<Page, 'keyId' | 'createdAt' | 'id' | 'limit'> & Searching,
  string
>(
  `select id from assets
   where member_id = @memberId and (key_id = @keyId or @keyId is null) and ${ORDER} offset @rows`,
);
const pageOfAll = statement<Page, AssetRow>(`select ${ASSET_COLUMNS} from assets where ${ORDER}`);

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
