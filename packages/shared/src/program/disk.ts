/** Files on a disk that can be deleted, and the commands for that. */
import { readdir, lstat, open } from 'node:fs/promises';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';

export interface Freeable {
  readonly what: string;
  readonly bytes: number;
  /** A shell command. */
  readonly command: string;
}

/** Less is not suggested. */
const MIN_LISTED_BYTES = 64 * 1024;

const MAX_LISTED = 20;

export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The suggestions, the largest first. */
export function worthFreeing(found: readonly Freeable[]): Freeable[] {
  return found
    .filter(({ bytes }) => bytes >= MIN_LISTED_BYTES)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, MAX_LISTED);
}

/** Bytes of a file, or of all files below a folder; 0 if it is missing or cannot be read. */
export async function bytesBelow(path: string): Promise<number> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return 0;
  if (!found.isDirectory()) return found.isFile() ? found.size : 0;
  let sum = 0;
  for (const name of await readdir(path).catch(() => [])) sum += await bytesBelow(join(path, name));
  return sum;
}

/** A path, quoted for a shell. */
export function inShell(path: string): string {
  return /^[\w./:-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Syncs the entries of a folder. Windows does so by itself, and cannot open folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
