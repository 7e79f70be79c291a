/**
 * The bytes of one recorded answer. They gather in memory and go to disk when they are many, or
 * when somebody asks for it; without a file they stay in memory.
 */
import { createHash } from 'node:crypto';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import type { SpoolFile } from './spool-file.js';
import { SpoolFull } from './spool-room.js';
import type { SpoolRoom } from './spool-room.js';

/** More than this is not held in memory. */
const MEMORY_BYTES = 256 * 1024;

/** What lies on disk from an earlier process. */
interface Found {
  readonly bytes: number;
  readonly sha256: string;
}

export class AnswerBytes {
  readonly #file: SpoolFile | null;
  readonly #room: SpoolRoom;
  readonly #hash = createHash('sha256');
  #sha256: string | null;
  #tail = new GatheredBytes();
  #onDisk: number;
  #writing: Promise<void> | null = null;
  #keeping: Promise<boolean> | null = null;
  #removed = false;

  constructor(file: SpoolFile | null, room: SpoolRoom, found: Found | null = null) {
    this.#file = file;
    this.#room = room;
    this.#onDisk = found?.bytes ?? 0;
    this.#sha256 = found?.sha256 ?? null;
    if (found !== null) this.#keeping = Promise.resolve(true);
    room.take(this.#onDisk);
  }

  get length(): number {
    return this.#onDisk + this.#tail.length;
  }

  /** Asked for only once all bytes are there. */
  get sha256(): string {
    this.#sha256 ??= this.#hash.digest('hex');
    return this.#sha256;
  }

  /** Throws `SpoolFull` where there is no room for them. */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#removed || bytes.length === 0) return;
    this.#room.take(bytes.length);
    this.#hash.update(bytes);
    this.#tail.append(bytes);
    if (this.#file === null || this.#tail.length <= MEMORY_BYTES) return;
    try {
      await this.write();
    } catch (cause) {
      throw new SpoolFull({ cause });
    }
  }

  /** The bytes from one offset to before another, or as many of them as lie in one place. */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (this.#file !== null && from < this.#onDisk) {
      return this.#file.read(from, Math.min(to, this.#onDisk));
    }
    return this.#tail.bytes.subarray(from - this.#onDisk, to - this.#onDisk);
  }

  /** Brings to disk what is still in memory. Throws what the disk says; nothing is lost then. */
  async write(): Promise<void> {
    if (this.#file === null) return;
    this.#writing ??= this.#writeTail(this.#file).finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Makes a whole answer survive the process, once. False where there is no disk for it. */
  keep(meta: string): Promise<boolean> {
    this.#keeping ??= this.#keep(meta).catch((error: unknown) => {
      this.#keeping = null;
      throw error;
    });
    return this.#keeping;
  }

  async #keep(meta: string): Promise<boolean> {
    if (this.#file === null) return false;
    await this.write();
    if (this.#removed) return false;
    await this.#file.keep(meta);
    if (this.#removed) await this.#file.remove();
    return true;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    this.#room.giveBack(this.length);
    await this.#writing?.catch(() => undefined);
    await this.#file?.remove();
  }

  async #writeTail(file: SpoolFile): Promise<void> {
    while (this.#tail.length > 0 && !this.#removed) {
      const { bytes } = this.#tail;
      await file.write(bytes, this.#onDisk);
      const meanwhile = this.#tail.bytes.subarray(bytes.length);
      this.#onDisk += bytes.length;
      this.#tail = new GatheredBytes();
      this.#tail.append(Buffer.from(meanwhile));
    }
  }
}
