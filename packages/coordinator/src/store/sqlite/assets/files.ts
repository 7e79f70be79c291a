import type { Database } from 'better-sqlite3';
import { MAX_FILES } from '../../../core/jobs/file-batch.js';
import type { FilePurpose } from '../../../core/jobs/file-batch.js';
import type { ApiFile, FileQuery } from '../../port.js';
import type { Operations } from '../engine/operations.js';
import { ASSET_COLUMNS, assetWriter, toAsset } from './assets.js';
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

export function fileOperations(database: Database): FileOperations {
  const find = database.prepare<[string, string], Row>(
    `${FILES} where assets.id = ? and assets.member_id = ?`,
  );
  const count = database
    .prepare<[string], number>(
      'select count(*) from files join assets on assets.id = asset_id where member_id = ?',
    )
    .pluck();
  const isRead = database.prepare<[string]>(
    'select 1 from file_batches where input_file_id = ? and ended_at is null',
  );
  const remove = database.prepare<[string]>('delete from assets where id = ?');
  const write = fileWriter(database);
  return {
    createFile: (file, limits) => {
      if ((count.get(file.asset.memberId) ?? 0) >= MAX_FILES) return 'too_many';
      return write([file], limits);
    },
    findFile: (id, memberId) => fileOrNull(find.get(id, memberId)),
    listFiles: fileLister(database),
    deleteFile: (id, memberId) => {
      if (find.get(id, memberId) === undefined) return 'unknown';
      if (isRead.get(id) !== undefined) return 'in_use';
      remove.run(id);
      return 'deleted';
    },
  };
}

/** Writes the rows of one member's files, or none of them if there is no space for all. */
export function fileWriter(database: Database) {
  const writeAssets = assetWriter(database);
  const insert = database.prepare<[string, string, string, string, number]>(
    'insert into files (asset_id, purpose, filename, path, lines) values (?, ?, ?, ?, ?)',
  );
  return (files: readonly ApiFile[], limits: Parameters<typeof writeAssets>[1]) => {
    const space = writeAssets(
      files.map(({ asset }) => asset),
      limits,
    );
    if (space !== 'created') return space;
    for (const { asset, purpose, filename, path, lines } of files) {
      insert.run(asset.id, purpose, filename, path, lines);
    }
    return space;
  };
}

function fileLister(database: Database): Operations['listFiles'] {
  const find = database.prepare<[string, string], Row>(
    `${FILES} where assets.id = ? and assets.member_id = ?`,
  );
  const page = (comparison: '<' | '>', order: 'desc' | 'asc') =>
    database.prepare<object, Row>(
      `${FILES} where member_id = @memberId and (@keyId is null or key_id = @keyId)
         and (@purpose is null or purpose = @purpose)
         and (created_at, id) ${comparison} (@createdAt, @id)
       order by created_at ${order}, id ${order} limit @limit`,
    );
  const [newest, oldest] = [page('<', 'desc'), page('>', 'asc')];
  return ({ memberId, keyId = null, purpose, order, limit, after }: FileQuery) => {
    const last = after === null ? null : find.get(after, memberId);
    if (last === undefined || (keyId !== null && last !== null && last.key_id !== keyId)) return [];
    const first = order === 'desc' ? Number.MAX_SAFE_INTEGER : 0;
    const { created_at: createdAt, id } = last ?? { created_at: first, id: '' };
    const rows = order === 'desc' ? newest : oldest;
    return rows.all({ memberId, keyId, purpose, limit, createdAt, id }).map(toFile);
  };
}

function fileOrNull(row: Row | undefined): ApiFile | null {
  return row === undefined ? null : toFile(row);
}

function toFile(row: Row): ApiFile {
  const { purpose, filename, path, lines } = row;
  return { asset: toAsset(row), purpose, filename, path, lines };
}
