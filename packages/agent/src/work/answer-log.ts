/**
 * Records the answer of a job's run, from start to end: bytes, and messages at their offsets among
 * the bytes. It can be replayed from the start, on any link, while it still grows.
 */
import type { Unaddressed } from '@inference-gateway/shared/protocol/link';
import type {
  AgentMessage,
  Message,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import { createHash } from 'node:crypto';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { MediaPart } from '../backends/backend.js';
import { writeDurably } from '../state/write-durably.js';
import { SpoolFull } from './spool-room.js';
import type { SpoolRoom } from './spool-room.js';

/** A message of the answer. END or RESET is the last. */
export type AnswerMessage = Extract<
  Unaddressed<AgentMessage>,
  { t: 'HEAD' | 'PART' | 'END' | 'RESET' }
>;

export type Failure = Omit<Message<'RESET'>, 'stream'>;

export interface Mark {
  /** The number of bytes before it. */
  readonly at: number;
  readonly message: AnswerMessage;
}

export class AnswerLog {
  readonly #newBytes: () => AnswerBytes;
  #bytes: AnswerBytes;
  #marks: Mark[];
  #parts = 0;
  readonly #listeners = new Set<() => void>();

  /** `found` is a record of an earlier process. */
  constructor(newBytes: () => AnswerBytes, found?: { bytes: AnswerBytes; marks: Mark[] }) {
    this.#newBytes = newBytes;
    this.#bytes = found?.bytes ?? newBytes();
    this.#marks = found?.marks ?? [];
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  get length(): number {
    return this.#bytes.length;
  }

  get sha256(): string {
    return this.#bytes.sha256;
  }

  /** Whether END or RESET is recorded. */
  get isWhole(): boolean {
    const last = this.#marks.at(-1)?.message.t;
    return last === 'END' || last === 'RESET';
  }

  /** The failure in place of an answer: it replaces everything recorded before it. */
  get failure(): Failure | null {
    const first = this.#marks[0]?.message;
    return first?.t === 'RESET' ? first : null;
  }

  head(status: number, contentType: string): void {
    this.#say({ t: 'HEAD', status, content_type: contentType });
  }

  part({ contentType, revisedPrompt }: MediaPart): void {
    this.#say({
      t: 'PART',
      index: this.#parts++,
      content_type: contentType,
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
    });
  }

  /** Resolves when there is room for more; throws `SpoolFull` if the spool is full. */
  async data(bytes: Uint8Array): Promise<void> {
    if (this.isWhole) return;
    const taken = this.#bytes.append(bytes);
    this.#changed();
    await taken;
  }

  end(cost: AnswerCost): void {
    this.#say({ t: 'END', ok: true, ...cost });
  }

  fail(code: ResetCode, message: string): void {
    void this.#bytes.remove();
    this.#bytes = this.#newBytes();
    this.#marks = [{ at: 0, message: { t: 'RESET', code, message: message.slice(0, 2_000) } }];
    this.#changed();
  }

  read(from: number, to: number): Promise<Uint8Array> {
    return this.#bytes.read(from, to);
  }

  /** Writes bytes in memory to disk. */
  write(): Promise<void> {
    return this.#bytes.write();
  }

  /** Makes a whole answer survive the process. False if there is no disk for it. */
  keep(meta: string): Promise<boolean> {
    return this.#bytes.keep(meta);
  }

  close(): Promise<void> {
    return this.#bytes.close();
  }

  /** The answer is no longer needed. */
  remove(): Promise<void> {
    return this.#bytes.remove();
  }

  /** Calls `listener` after each addition. Returns a function that stops this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #say(message: AnswerMessage): void {
    if (this.isWhole) return;
    this.#marks.push({ at: this.length, message });
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Limit of bytes held in memory. */
const MEMORY_BYTES = 256 * 1024;

/** A record on disk from an earlier process. */
interface Found {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The bytes of one recorded answer. They gather in memory and go to disk when there are many, or on
 * request; without a file they stay in memory.
 */
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

  /** Read only after all bytes have been added. */
  get sha256(): string {
    this.#sha256 ??= this.#hash.digest('hex');
    return this.#sha256;
  }

  /** Throws `SpoolFull` if there is no room for them. */
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

  /**
   * The bytes from one offset to before another, or the part of them in one place (memory or disk).
   */
  async read(from: number, to: number): Promise<Uint8Array> {
    if (this.#file !== null && from < this.#onDisk) {
      return this.#file.read(from, Math.min(to, this.#onDisk));
    }
    return this.#tail.bytes.subarray(from - this.#onDisk, to - this.#onDisk);
  }

  /** Writes the bytes still in memory to disk. Rethrows disk errors; no data is lost then. */
  async write(): Promise<void> {
    if (this.#file === null) return;
    this.#writing ??= this.#writeTail(this.#file).finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Makes a whole answer survive the process, once. False if there is no disk for it. */
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

// One answer's bytes on disk: `<stem>.data`, and `<stem>.json` beside it once it is whole.

export class SpoolFile {
  readonly #stem: string;
  #handle: Promise<FileHandle> | null = null;
  /** Most answers are never written: looking for their files took 8 % of a busy agent's time. */
  #mayExist: boolean;

  /**
   * The stem is a path without extension. The first write creates the file; `isFound` if an earlier
   * process has written it.
   */
  constructor(stem: string, isFound = false) {
    this.#stem = stem;
    this.#mayExist = isFound;
  }

  /** Writes all of it, or rethrows the disk error. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    const handle = await this.#open();
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position + at);
      at += bytesWritten;
    }
  }

  /** Throws if the file is shorter. */
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

  /** After this the answer survives the process: the bytes are written first, then the metadata. */
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
   * Removes in reverse order: bytes without metadata are swept at the next start. Never rejects: a
   * file that cannot be removed is only offered once more, which does no harm.
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
