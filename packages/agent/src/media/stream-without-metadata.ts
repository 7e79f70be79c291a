/**
 * Removes the metadata of a file while it streams. ComfyUI writes the whole workflow there, with
 * the names of the owner's files.
 */
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import { LocalFailure } from '../backends/backend.js';
import { MAX_CHUNKS, PNG_SIGNATURE } from './images.js';
import { withoutMetadata } from './without-metadata.js';

const HEADER_BYTES = 8;

const LONG_HEADER_BYTES = 16;

/** Boxes that contain others, down to the descriptions of the file and its tracks. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak']);

const METADATA: ReadonlySet<string> = new Set(['udta', 'meta', 'uuid']);

const PADDING = 'free';

/** Enough for the index of hours of video; a longer one passes unchanged. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

const MARK_BYTES = 4;

const BLOCK_HEADER_BYTES = 4;

const LAST_BLOCK = 0x80;

/** These FLAC blocks are needed to read the sound: its format, and where to find which part. */
const KEPT_BLOCKS: ReadonlySet<number> = new Set([0, 3]);

const PADDING_BLOCK = 1;

const ID3_HEADER_BYTES = 10;

const FOOTER_FLAG = 0x10;

/** Reads a stream of byte pieces in the portions of a file format. */
class ByteCursor {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  /** This many bytes at once, or fewer if the stream ends. */
  async take(count: number): Promise<Buffer> {
    const pieces = [this.#held];
    let bytes = this.#held.length;
    while (bytes < count) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      pieces.push(asBuffer(next.value));
      bytes += next.value.length;
    }
    const all = pieces.length === 1 ? this.#held : Buffer.concat(pieces);
    this.#held = all.subarray(count);
    return all.subarray(0, count);
  }

  /** Passes this many bytes on in pieces. */
  async *pass(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      const piece = this.#held.length > 0 ? this.#held : await this.#next();
      if (piece === null) return;
      this.#held = piece.subarray(left);
      left -= Math.min(left, piece.length);
      yield piece.subarray(0, piece.length - this.#held.length);
    }
  }

  /** Readers that stop early must call this. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #next(): Promise<Buffer | null> {
    const next = await this.#pieces.next();
    return next.done === true ? null : asBuffer(next.value);
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const CLEANERS: Partial<Record<MediaFormat, (file: ByteCursor) => AsyncGenerator<Buffer>>> = {
  mp4: cleanMp4,
  flac: cleanFlac,
  mp3: cleanMp3,
  png: (file) => inBlocks(cleanPng(file)),
  jpeg: cleanWhole,
  webp: cleanWhole,
};

/** WebM, WAV and Ogg stay unchanged. */
export function streamWithoutMetadata(
  bytes: AsyncIterable<Uint8Array>,
  format: MediaFormat,
): AsyncIterable<Uint8Array> {
  const clean = CLEANERS[format];
  return clean === undefined ? bytes : closing(new ByteCursor(bytes), clean);
}

async function* closing(
  file: ByteCursor,
  clean: (file: ByteCursor) => AsyncGenerator<Buffer>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* clean(file);
  } finally {
    await file.close();
  }
}

/**
 * An MP4 without metadata. Metadata is overwritten with padding of the same length: the file's
 * index counts bytes from its start.
 */
async function* cleanMp4(file: ByteCursor): AsyncGenerator<Buffer> {
  for (;;) {
    const head = await readHead(file);
    const box = head.length < HEADER_BYTES ? null : readBox(head);
    if (box === null) {
      yield head;
      return yield* file.pass(Infinity);
    }
    const isHeld = CONTAINERS.has(box.type) || METADATA.has(box.type);
    if (isHeld && box.size <= MAX_HELD_BYTES) {
      // A copy: other code may see the overwritten bytes.
      const whole = Buffer.concat([head, await file.take(box.size - head.length)]);
      blank(whole, 0);
      yield whole;
    } else {
      yield head;
      yield* file.pass(box.size - head.length);
    }
  }
}

async function readHead(file: ByteCursor): Promise<Buffer> {
  const head = await file.take(HEADER_BYTES);
  const isLong = head.length === HEADER_BYTES && head.readUInt32BE(0) === 1;
  if (!isLong) return head;
  return Buffer.concat([head, await file.take(LONG_HEADER_BYTES - HEADER_BYTES)]);
}

interface Box {
  readonly type: string;
  /** Includes the header. */
  readonly size: number;
  readonly headerBytes: number;
}

/** Null if it extends to the end of the file, or is invalid. */
function readBox(head: Buffer): Box | null {
  const short = head.readUInt32BE(0);
  const headerBytes = short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES;
  if (head.length < headerBytes) return null;
  const size = short === 1 ? Number(head.readBigUInt64BE(HEADER_BYTES)) : short;
  return size < headerBytes ? null : { type: head.toString('latin1', 4, 8), size, headerBytes };
}

/** Overwrites the metadata among the boxes from here on, and in the boxes that contain others. */
function blank(boxes: Buffer, from: number): void {
  let at = from;
  while (at + HEADER_BYTES <= boxes.length) {
    const box = readBox(boxes.subarray(at, at + LONG_HEADER_BYTES));
    if (box === null) return;
    const one = boxes.subarray(at, at + box.size);
    if (METADATA.has(box.type)) {
      one.write(PADDING, 4, 'latin1');
      one.fill(0, box.headerBytes);
    } else if (CONTAINERS.has(box.type)) blank(one, box.headerBytes);
    at += box.size;
  }
}

// FLAC and MP3 without the tags before their sound.

/** Other blocks become padding of the same length. */
async function* cleanFlac(file: ByteCursor): AsyncGenerator<Buffer> {
  yield await file.take(MARK_BYTES);
  for (;;) {
    const head = Buffer.from(await file.take(BLOCK_HEADER_BYTES));
    const first = head[0];
    if (first === undefined || head.length < BLOCK_HEADER_BYTES) return yield head;
    const data = await file.take(head.readUIntBE(1, 3));
    const isKept = KEPT_BLOCKS.has(first & ~LAST_BLOCK);
    if (!isKept) head[0] = (first & LAST_BLOCK) | PADDING_BLOCK;
    yield Buffer.concat([head, isKept ? data : Buffer.alloc(data.length)]);
    if ((first & LAST_BLOCK) !== 0) return yield* file.pass(Infinity);
  }
}

/** Skips the tag, if there is one. */
async function* cleanMp3(file: ByteCursor): AsyncGenerator<Buffer> {
  const head = await file.take(ID3_HEADER_BYTES);
  const isTag = head.length === ID3_HEADER_BYTES && head.toString('latin1', 0, 3) === 'ID3';
  if (isTag) await drop(file.pass(tagBytes(head)));
  else yield head;
  yield* file.pass(Infinity);
}

async function drop(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of pieces);
}

/** Its length has seven bits per byte. */
function tagBytes(head: Buffer): number {
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0);
  return size + ((head.readUInt8(5) & FOOTER_FLAG) === 0 ? 0 : ID3_HEADER_BYTES);
}

// Images, which are limited to the size of 4,096 pixels a side, barely compressed.

const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

const CHUNK_HEAD_BYTES = 8;

const CHECKSUM_BYTES = 4;

const PNG_METADATA: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'dSIG']);

/** A lower-case first letter marks an ancillary chunk, a lower-case second one a private chunk. */
const PRIVATE = /^[a-z]{2}/;

/** Up to IEND: data after it is not part of the image. */
async function* cleanPng(file: ByteCursor): AsyncGenerator<Buffer> {
  yield await file.take(PNG_SIGNATURE.length);
  let bytes = 0;
  for (let chunks = 0; chunks < MAX_CHUNKS; chunks++) {
    const head = await file.take(CHUNK_HEAD_BYTES);
    if (head.length < CHUNK_HEAD_BYTES) return;
    const rest = head.readUInt32BE(0) + CHECKSUM_BYTES;
    const type = head.toString('latin1', 4);
    bytes += CHUNK_HEAD_BYTES + rest;
    if (bytes > MAX_IMAGE_BYTES) throw tooLarge();
    if (PNG_METADATA.has(type) || PRIVATE.test(type)) await drop(file.pass(rest));
    else {
      yield head;
      yield* file.pass(rest);
    }
    if (type === 'IEND') return;
  }
}

const BLOCK_BYTES = 64 * 1024;

/** A piece from this size on is passed on as it is. */
const LARGE_BYTES = 32 * 1024;

/** An image of a hundred chunks is not sent in hundreds of small pieces. */
async function* inBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let length = 0;
  for await (const piece of pieces) {
    if (piece.length >= LARGE_BYTES || length + piece.length > BLOCK_BYTES) {
      if (length > 0) yield block.subarray(0, length);
      block = Buffer.allocUnsafe(BLOCK_BYTES);
      length = 0;
    }
    if (piece.length >= LARGE_BYTES) yield piece;
    else length += piece.copy(block, length);
  }
  if (length > 0) yield block.subarray(0, length);
}

/** Their metadata cannot be removed piece by piece. */
async function* cleanWhole(file: ByteCursor): AsyncGenerator<Buffer> {
  const image = await file.take(MAX_IMAGE_BYTES + 1);
  if (image.length > MAX_IMAGE_BYTES) throw tooLarge();
  yield withoutMetadata(image);
}

function tooLarge(): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `there are more than ${MAX_IMAGE_BYTES} bytes of it.`);
}
