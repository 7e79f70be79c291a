/** What a backup says of itself: the last entry of its archive, without which none is whole. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { isAssetId } from '../assets/asset-id.js';

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
