/** Uploads on disk, from their first byte until their request is over. */
import { randomId } from '@inference-gateway/shared/ids';
import { createReadStream, createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/**
 * Each piece is a trip to the thread pool: pieces of 64 KiB took 31 % of the coordinator's main
 * thread while it passed on uploads (`npm run bench -- media --cpu-prof DIR`).
 */
const PIECE_BYTES = 256 * 1024;

export class Spool {
  readonly #folder: string;

  /** Removes what a coordinator left behind that ended too soon. Needs the lock of the folder. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: PRIVATE_FOLDER, recursive: true });
  }

  /** A name for a new file. */
  newPath(): string {
    return join(this.#folder, randomId());
  }
}

/**
 * Resolves when everything that `inspect` lets through has been written. Settles only when the file
 * is closed: one that is still being opened would be there again after it was removed.
 */
export async function writeSpooled(
  path: string,
  source: Readable,
  inspect: Transform,
): Promise<void> {
  const file = createWriteStream(path, { mode: PRIVATE_FILE, highWaterMark: PIECE_BYTES });
  const closed = new Promise<void>((resolve) => file.once('close', resolve));
  try {
    await pipeline(source, inspect, file);
  } finally {
    file.destroy();
    await closed;
  }
}

export function readSpooled(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: PIECE_BYTES });
}

/** What is left over, the next start removes. */
export async function removeSpooled(paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((path) => rm(path, { force: true })));
}
