/** Defines the entries that a backup's archive may contain. All others are refused. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { MAX_ASSET_BYTES, isAssetId } from '../assets/byte-store.js';
import { DATABASE_FILE } from '../store/open.js';

export const MANIFEST_FILE = 'manifest.json';

/** Enough for the ids of 100,000 assets. */
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/** Largest database. A thousand times the size after a busy year. */
const MAX_DATABASE_BYTES = 1024 ** 4;

/** An entry takes about 200 bytes of memory while an archive is read. */
export const MAX_ARCHIVE_ENTRIES = 2_000_000;

export type EntryKind =
  | { readonly kind: 'database' }
  | { readonly kind: 'manifest' }
  | { readonly kind: 'asset'; readonly id: string };

/** The fields of an entry's header. */
export interface EntryFacts {
  readonly path: string;
  readonly type: string;
  readonly size: number;
}

/** Same layout as in the data folder: two characters of the id name a folder. */
export function assetEntry(id: string): string {
  return `assets/${id.slice(0, 2)}/${id}`;
}

/** Throws if a backup cannot contain this entry: a link, an unexpected path, or a wrong size. */
export function kindOf({ path, type, size }: EntryFacts): EntryKind {
  const kind = kindOfPath(path);
  if (kind === null) throw new Error(`it holds ${quoted(path)}, which no backup does`);
  // Links and folders could redirect the extraction. A backup contains plain files only.
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

/** Prints a hostile name without its control characters. */
function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

// The manifest is the last entry of an archive. An archive without it is incomplete.

const FORMAT = 1;

const count = z.int().min(0);

const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** The version of the program that made the backup. */
  version: z.string().min(1).max(64),
  schema_version: count,
  /** Unix milliseconds of the database copy. */
  created_at: count,
  database: z.object({ bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  assets: z.object({ count, bytes: count }),
  /** Assets in the database copy that were deleted before their files were read. */
  deleted: z.array(z.string().refine(isAssetId)),
});

const formatSchema = z.object({ format: z.int() });

export type Manifest = Omit<z.infer<typeof manifestSchema>, 'format'>;

export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, ...manifest })}\n`);
}

/** Throws an error if this is not a manifest, and a `CommandError` if a newer program made it. */
export function decodeManifest(text: string): Manifest {
  const value: unknown = JSON.parse(text);
  const { format } = formatSchema.parse(value);
  if (format > FORMAT) {
    const message = `the backup has format ${format}, this program knows up to ${FORMAT}.`;
    throw new CommandError(EXIT.schemaNewer, `${message} Use the program that made it.`);
  }
  return manifestSchema.parse(value);
}
