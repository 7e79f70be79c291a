/** One answer's bytes on disk: `<stem>.data`, and `<stem>.json` beside it once it is whole. */
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { writeDurably } from '../state/write-durably.js';

export class SpoolFile {
  readonly #stem: string;
  #handle: Promise<FileHandle> | null = null;
  /** Most answers are never written: to look for their files took 8 % of a busy agent's time. */
  #mayExist: boolean;

  /**
   * The stem is a path without an ending. Nothing is created before the first write; `isFound`
   * where an earlier process has written it.
   */
  constructor(stem: string, isFound = false) {
    this.#stem = stem;
    this.#mayExist = isFound;
  }

  /** Writes all of it, or throws what the disk says. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    const handle = await this.#open();
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position + at);
      at += bytesWritten;
    }
  }

  /** Throws where the file is shorter. */
  async read(from: number, to: number): Promise<Uint8Array> {
    const handle = await this.#open();
    const bytes = Buffer.allocUnsafe(to - from);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at);
      if (bytesRead === 0) throw new Error(`the spool file ends at ${from + at}, before ${to}`);
      at += bytesRead;
    }
    return bytes;
  }

  /** From now on the answer survives the process: the bytes first, then what tells of them. */
  async keep(meta: string): Promise<void> {
    await (await this.#open()).sync();
    await writeDurably(metaFile(this.#stem), meta);
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await (await handle)?.close();
  }

  /**
   * In the other order: bytes that nothing tells of are swept at the next start. Never rejects:
   * what cannot be removed is offered once more then, and does no harm.
   */
  async remove(): Promise<void> {
    await this.close().catch(() => undefined);
    if (!this.#mayExist) return;
    const stays = await rm(metaFile(this.#stem), { force: true }).catch(() => true);
    if (stays !== true) await rm(dataFile(this.#stem), { force: true }).catch(() => undefined);
  }

  #open(): Promise<FileHandle> {
    this.#mayExist = true;
    if (this.#handle === null) {
      const opening = openOrCreate(dataFile(this.#stem));
      this.#handle = opening;
      // A disk that was full may have room at the next try.
      opening.catch(() => {
        if (this.#handle === opening) this.#handle = null;
      });
    }
    return this.#handle;
  }
}

export const META_ENDING = '.json';
export const DATA_ENDING = '.data';

function metaFile(stem: string): string {
  return stem + META_ENDING;
}

function dataFile(stem: string): string {
  return stem + DATA_ENDING;
}

async function openOrCreate(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return open(file, 'wx+', 0o600);
  }
}
