/** What a backup's archive may hold, and nothing else. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { MAX_ASSET_BYTES, isAssetId } from '../assets/byte-store.js';
import { DATABASE_FILE } from '../store/open.js';

export const MANIFEST_FILE = 'manifest.json';

/** Room for the ids of 100,000 assets. */
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/** Of a database; a thousand times what a busy year leaves. */
const MAX_DATABASE_BYTES = 1024 ** 4;

/** Each costs some 200 bytes of memory while an archive is read. */
export const MAX_ARCHIVE_ENTRIES = 2_000_000;

export type EntryKind =
  | { readonly kind: 'database' }
  | { readonly kind: 'manifest' }
  | { readonly kind: 'asset'; readonly id: string };

/** An entry as its header describes it. */
export interface EntryFacts {
  readonly path: string;
  readonly type: string;
  readonly size: number;
}

/** In the archive as in the data folder: two characters of the id name a folder. */
export function assetEntry(id: string): string {
  return `assets/${id.slice(0, 2)}/${id}`;
}

/** Throws where the entry is none that a backup has: a link, a path, a size that none has. */
export function kindOf({ path, type, size }: EntryFacts): EntryKind {
  const kind = kindOfPath(path);
  if (kind === null) throw new Error(`it holds ${quoted(path)}, which no backup does`);
  // Links and folders would lead an unpacking elsewhere; a backup has plain files alone.
  if (type !== 'File') throw new Error(`${quoted(path)} is no file but a ${type}`);
  const most = MAX_BYTES[kind.kind];
  if (size > most) throw new Error(`${quoted(path)} has ${size} bytes, more than the ${most}`);
  return kind;
}

const MAX_BYTES: Readonly<Record<EntryKind['kind'], number>> = {
  database: MAX_DATABASE_BYTES,
  manifest: MAX_MANIFEST_BYTES,
  asset: MAX_ASSET_BYTES,
};

function kindOfPath(path: string): EntryKind | null {
  if (path === DATABASE_FILE) return { kind: 'database' };
  if (path === MANIFEST_FILE) return { kind: 'manifest' };
  const id = path.slice(path.lastIndexOf('/') + 1);
  return isAssetId(id) && path === assetEntry(id) ? { kind: 'asset', id } : null;
}

/** A hostile name is printed without its control characters. */
function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

// What a backup says of itself: the last entry of its archive, without which none is whole.

const FORMAT = 1;

const count = z.int().min(0);

const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** Of the program that made it. */
  version: z.string().min(1).max(64),
  schema_version: count,
  /** Unix milliseconds: when the database was copied. */
  created_at: count,
  database: z.object({ bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  assets: z.object({ count, bytes: count }),
  /** Assets with a row in the copy that were deleted before their file's turn came. */
  deleted: z.array(z.string().refine(isAssetId)),
});

const formatSchema = z.object({ format: z.int() });

export type Manifest = Omit<z.infer<typeof manifestSchema>, 'format'>;

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, ...manifest })}\n`);
}

/** Throws an error where this is none, a `CommandError` where a newer program has made it. */
export function decodeManifest(text: string): Manifest {
  const value: unknown = JSON.parse(text);
  const { format } = formatSchema.parse(value);
  if (format > FORMAT) {
    const message = `the backup has format ${format}, this program knows up to ${FORMAT}.`;
    throw new CommandError(EXIT.schemaNewer, `${message} Use the program that made it.`);
  }
  return manifestSchema.parse(value);
}
