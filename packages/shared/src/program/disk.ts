/** What lies on a disk that its user can do without, and how it is removed. */
import { readdir, lstat, open } from 'node:fs/promises';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';

export interface Freeable {
  readonly what: string;
  readonly bytes: number;
  /** For a shell. */
  readonly command: string;
}

/** Less is not worth a command. */
const MIN_LISTED_BYTES = 64 * 1024;

const MAX_LISTED = 20;

export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** What is worth a command, the largest first. */
export function worthFreeing(found: readonly Freeable[]): Freeable[] {
  return found
    .filter(({ bytes }) => bytes >= MIN_LISTED_BYTES)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, MAX_LISTED);
}

/** Of a file, or of all files below a folder; 0 where it is not there or may not be looked at. */
export async function bytesBelow(path: string): Promise<number> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return 0;
  if (!found.isDirectory()) return found.isFile() ? found.size : 0;
  let sum = 0;
  for (const name of await readdir(path).catch(() => [])) sum += await bytesBelow(join(path, name));
  return sum;
}

/** A path as a shell takes it. */
export function inShell(path: string): string {
  return /^[\w./:-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** Puts the names in a folder on the disk. Windows does it by itself and opens no folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
