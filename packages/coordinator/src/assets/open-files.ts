/** Opens the byte store of a coordinator: its own folder, a shared one, or an object storage. */
import { ApiError } from '@inference-gateway/shared/errors';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { AssetStore } from '../store/port.js';
import type { ByteStore } from './byte-store.js';
import { nameOfPlace, parseFilesUrl } from './files-url.js';
import type { FilesPlace } from './files-url.js';
import { assetsFolder, FolderStore, openByteStore } from './folder-store.js';
import { ORPHAN_AGE_MS } from './sweep.js';

/** In the data folder of a coordinator whose files are elsewhere: their URL. */
const MARK = 'files-url';

/** Null for a folder whose files are in it. */
export function filesMarkOf(dataDir: string): string | null {
  const file = join(dataDir, MARK);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/** From now on the files of the folder are there; null: in the folder itself. */
export function markFiles(dataDir: string, url: string | null): void {
  if (url === null) rmSync(join(dataDir, MARK), { force: true });
  else if (filesMarkOf(dataDir) !== url) writeFileSync(join(dataDir, MARK), `${url}\n`);
}

/** Whether two settings name the same place. */
export function isSamePlace(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other;
  return nameOfPlace(one) === nameOfPlace(other);
}

/**
 * For a command. Asks nothing over the network. Throws a `CommandError` (`usage`) if the folder's
 * files are known to be elsewhere: they would seem to be lost.
 */
export async function openFiles(place: FilesPlace): Promise<ByteStore> {
  await requirePlace(place);
  return openFilesAt(place);
}

interface FirstUse extends KnownRows {
  /** The database is another one than when the data folder was used last. */
  readonly isOther: boolean;
}

/**
 * For a coordinator: also tries whether the store can be used, and that it is not another
 * gateway's. Throws a `CommandError`; nothing is changed then.
 */
export async function openFilesToServe(place: FilesPlace, first: FirstUse): Promise<ByteStore> {
  const { dataDir, filesUrl } = place;
  const files = await openFiles(place);
  const isFirstUse = filesUrl !== null && filesMarkOf(dataDir) === null;
  try {
    if (filesUrl !== null) await requireUsable(files, place);
    if (isFirstUse || first.isOther) {
      await requireOwn(files, filesUrl ?? assetsFolder(dataDir), first);
    }
  } catch (error) {
    files.close();
    throw error;
  }
  markFiles(dataDir, filesUrl);
  return files;
}

/** Whatever the folder's files are said to be. */
export async function openFilesAt(place: FilesPlace): Promise<ByteStore> {
  const { dataDir, filesUrl, filesAccessKey, filesSecretKey } = place;
  if (filesUrl === null) return openByteStore(dataDir);
  const url = parseFilesUrl(filesUrl);
  if (url.kind === 'folder') return new FolderStore(url.folder);
  if (filesAccessKey === null || filesSecretKey === null) {
    throw new Error('the configuration lets no object storage pass without credentials');
  }
  const { openS3Store } = await import('./s3-store.js');
  const credentials = { accessKey: filesAccessKey, secretKey: filesSecretKey };
  return openS3Store({ bucket: url, credentials, draftFolder: assetsFolder(dataDir) });
}

async function requirePlace({ dataDir, filesUrl }: FilesPlace): Promise<void> {
  const mark = filesMarkOf(dataDir);
  if (isSamePlace(mark, filesUrl)) return;
  if (mark !== null) throw elsewhere({ dataDir, filesUrl }, mark);
  if (!(await hasFiles(openByteStore(dataDir)))) return;
  const message =
    `${assetsFolder(dataDir)} holds generated files, and GATEWAY_FILES_URL is ${filesUrl}: copy ` +
    `them with "migrate --files ${filesUrl}", or start without GATEWAY_FILES_URL.`;
  throw new CommandError(EXIT.usage, message);
}

function elsewhere(
  { dataDir, filesUrl }: Pick<FilesPlace, 'dataDir' | 'filesUrl'>,
  mark: string,
): CommandError {
  const file = join(dataDir, MARK);
  const remedy =
    filesUrl === null
      ? 'set GATEWAY_FILES_URL to that. "migrate --files local" copies them back; to begin ' +
        `without them, remove ${file}.`
      : `"migrate --files ${filesUrl}" copies them there. If only the address has changed, ` +
        `remove ${file}.`;
  const given = filesUrl === null ? '' : `, not in ${filesUrl}`;
  const message = `the coordinator of ${dataDir} keeps its files in ${mark}${given}: ${remedy}`;
  return new CommandError(EXIT.usage, message);
}

async function hasFiles(files: ByteStore): Promise<boolean> {
  for await (const _ of files.list()) return true;
  return false;
}

/** Tries all that the store is needed for. Throws a `CommandError`. */
export async function requireUsable(files: ByteStore, place: FilesPlace): Promise<void> {
  requireFolder(place);
  try {
    await tryOut(files);
  } catch (error) {
    throw asCommandError(error, place);
  }
}

const PROBE = Buffer.from('Written by a coordinator to see whether it may; it is deleted at once.');

async function tryOut(files: ByteStore): Promise<void> {
  const draft = files.draft(PROBE.length);
  try {
    await draft.write(PROBE);
    await draft.commit();
    try {
      const stream = await files.read(draft.id);
      const found = stream === null ? null : await buffer(stream);
      if (found === null || !PROBE.equals(found)) {
        throw new Error('a file that was written is read as something else');
      }
    } finally {
      await files.remove(draft.id);
    }
    await hasFiles(files);
  } finally {
    await draft.discard();
  }
}

/** A missing one is not made: it may be one that is not mounted. */
function requireFolder({ filesUrl }: FilesPlace): void {
  const url = filesUrl === null ? null : parseFilesUrl(filesUrl);
  if (url?.kind !== 'folder') return;
  if (statSync(url.folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const message = `there is no folder ${url.folder}, which GATEWAY_FILES_URL names: mount it.`;
  throw new CommandError(EXIT.notFound, message);
}

interface KnownRows {
  readonly store: Pick<AssetStore, 'knownAssets'>;
  readonly now: () => number;
}

/** Of a look at a store that is used for the first time. */
const MAX_EXAMINED = 1_000;

/** The sweep would delete the files of another gateway. Throws a `CommandError` (`usage`). */
export async function requireOwn(
  files: ByteStore,
  where: string,
  { store, now }: KnownRows,
): Promise<void> {
  const before = now() - ORPHAN_AGE_MS;
  const ids: string[] = [];
  for await (const { id, modifiedAt } of files.list()) {
    if (modifiedAt < before) ids.push(id);
    if (ids.length >= MAX_EXAMINED) break;
  }
  if (ids.length === 0 || (await store.knownAssets(ids)).length > 0) return;
  const message =
    `${where} holds files of another gateway: the database knows none of ${ids.length} that were ` +
    'looked at, and the sweep would delete them. Name the database of these files, an empty ' +
    'bucket or folder, or another prefix.';
  throw new CommandError(EXIT.usage, message);
}

const NOT_AUTHORISED = /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|EACCES|EPERM)$/;

/** What failed, with S3's or the system's own words; other errors are returned as they are. */
export function asCommandError(error: unknown, { filesUrl, dataDir }: FilesPlace): unknown {
  const cause = error instanceof ApiError ? error.cause : error;
  if (!(cause instanceof Error) || cause instanceof CommandError) return error;
  const { message, code } = cause as Error & { readonly code?: string };
  if (!(error instanceof ApiError) && code === undefined) return error;
  const where = filesUrl ?? assetsFolder(dataDir);
  if (code === 'NoSuchBucket') {
    const text = `there is no bucket for ${where}: make it, or correct GATEWAY_FILES_URL.`;
    return new CommandError(EXIT.notFound, text, { cause: error });
  }
  const isRefused = NOT_AUTHORISED.test(code ?? '');
  const text = `cannot use ${where}: ${message}${code === undefined ? '' : ` (${code})`}.`;
  const status = isRefused ? EXIT.notAuthorised : EXIT.failure;
  return new CommandError(status, text, { cause: error });
}
