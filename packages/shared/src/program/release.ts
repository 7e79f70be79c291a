/**
 * A release of the agent, as `npm run package` writes it and a coordinator hands it out: files,
 * with a list of them (`release.json`) and, if it is signed, the signature of that list.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import * as z from 'zod';

export const RELEASE_LIST = 'release.json';
/** Ed25519 over the bytes of the list, in base64. */
export const RELEASE_SIGNATURE = 'release.json.sig';

/** The list is read whole. */
export const MAX_LIST_BYTES = 64 * 1024;

/** Path of a release's files at a coordinator. */
export const DOWNLOAD_PATH = '/download';

const artifact = z.object({
  /** A plain name: it becomes part of paths. */
  file: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,120}$/i),
  /** A package for npm, which needs Node; or an executable, compressed with gzip. */
  kind: z.enum(['package', 'executable']),
  /** `linux-x64`; null if it runs on all. */
  platform: z.string().max(32).nullable(),
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const release = z.object({
  version: z.string().regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,64})?$/),
  artifacts: z.array(artifact).max(64),
});

export type Release = z.infer<typeof release>;
export type Artifact = z.infer<typeof artifact>;

/** Null if the text is no list of a release. */
export function readRelease(text: string): Release | null {
  try {
    return release.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Whether the list has been signed with this public key, in PEM. */
export function isSignedBy(list: Buffer, signature: string, publicKey: string): boolean {
  return verify(null, list, createPublicKey(publicKey), Buffer.from(signature.trim(), 'base64'));
}

/** A short name for a public key in PEM: the start of its SHA-256, in hexadecimal. */
export function keyName(publicKey: string): string {
  const bytes = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}
