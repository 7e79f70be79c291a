import { MAX_FILES } from '../../../core/jobs/file-batch.js';
import type { FilePurpose } from '../../../core/jobs/file-batch.js';
import type { ApiFile, AssetLimits } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { ASSET_COLUMNS, lockAssets, toAsset, writeAssets } from './assets.js';
import type { AssetRow } from './assets.js';

type FileOperations = Pick<Operations, 'createFile' | 'findFile' | 'listFiles' | 'deleteFile'>;

interface Row extends AssetRow {
  purpose: FilePurpose;
  filename: string;
  path: string;
  lines: number;
}

const FILES = `select ${ASSET_COLUMNS}, files.purpose, files.filename, files.path, files.lines
  from assets join files on files.asset_id = assets.id`;

const find = statement<{ id: string; memberId: string }, Row>(
  `${FILES} where assets.id = @id and assets.member_id = @memberId`,
);
const count = valueOf<{ memberId: string }, number>(
  'select count(*) from files join assets on assets.id = asset_id where member_id = @memberId',
);
const isRead = statement<{ id: string }>(
  'select 1 from file_batches where input_file_id = @id and ended_at is null',
);
const remove = statement<{ id: string }>('delete from assets where id = @id');

export const fileOperations: FileOperations = {
  *createFile(file, limits) {
    const { memberId } = file.asset;
    yield* lockAssets();
    if (((yield* count.get({ memberId })) ?? 0) >= MAX_FILES) return 'too_many';
    return yield* writeFiles([file], limits);
  },

  *findFile(id, memberId) {
    const row = yield* find.get({ id, memberId });
    return row === undefined ? null : toFile(row);
  },

  *listFiles({ memberId, keyId = null, purpose, order, limit, after }) {
    const last = after === null ? null : yield* find.get({ id: after, memberId });
    if (last === undefined || (keyId !== null && last !== null && last.key_id !== keyId)) return [];
    const first = order === 'desc' ? Number.MAX_SAFE_INTEGER : 0;
    const { created_at: createdAt, id } = last ?? { created_at: first, id: '' };
    const page = order === 'desc' ? newest : oldest;
    const rows = yield* page.all({ memberId, keyId, purpose, limit, createdAt, id });
    return rows.map(toFile);
  },

  *deleteFile(id, memberId) {
    // A batch locks the assets too, before it looks for its file.
    yield* lockAssets();
    if ((yield* find.get({ id, memberId })) === undefined) return 'unknown';
    if ((yield* isRead.get({ id })) !== undefined) return 'in_use';
    yield* remove.run({ id });
    return 'deleted';
  },
};

const insert = statement(
  `insert into files (asset_id, purpose, filename, path, lines)
   values (@assetId, @purpose, @filename, @path, @lines)`,
);

/** Writes the rows of one member's files, or none of them if there is no space for all. */
export function* writeFiles(
  files: readonly ApiFile[],
  limits: AssetLimits,
): Operation<'created' | 'member_full' | 'full'> {
  const assets = files.map(({ asset }) => asset);
  const space = yield* writeAssets(assets, limits);
  if (space !== 'created') return space;
  yield* insert.each(
    files.map(({ asset, purpose, filename, path, lines }) => {
      return { assetId: asset.id, purpose, filename, path, lines };
    }),
  );
  return space;
}

const [newest, oldest] = [pageOf('<', 'desc'), pageOf('>', 'asc')];

function pageOf(comparison: '<' | '>', order: 'desc' | 'asc') {
  return statement<object, Row>(
    `${FILES} where member_id = @memberId and (key_id = @keyId or @keyId is null)
       and (purpose = @purpose or @purpose is null)
       and (created_at, id) ${comparison} (@createdAt, @id)
     order by created_at ${order}, id ${order} limit @limit`,
  );
}

function toFile(row: Row): ApiFile {
  const { purpose, filename, path, lines } = row;
  return { asset: toAsset(row), purpose, filename, path, lines };
}
