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
 * Each piece is a call of the thread pool: pieces of 64 KiB took 31 % of the coordinator's main
 * thread while it forwarded uploads (`npm run bench -- media --cpu-prof DIR`).
 */
const PIECE_BYTES = 256 * 1024;

export class Spool {
  readonly #folder: string;

  /** Removes files of a coordinator that crashed. Requires the lock of the folder. */
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
 * Resolves when everything that `inspect` passes has been written. Settles only when the file is
 * closed: a file that is still being opened would reappear after its removal.
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

/** The next start removes remaining files. */
export async function removeSpooled(paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((path) => rm(path, { force: true })));
}
