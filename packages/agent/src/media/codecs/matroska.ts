/** Matroska and WebM (RFC 9559): the packets of the first audio track. */
import type { FileBytes } from './file-bytes.js';
import { BrokenSound, UnknownSound } from './sound.js';

const ID = {
  segment: 0x1853_8067,
  cluster: 0x1f43_b675,
  tracks: 0x1654_ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** The children of these elements are read; all other elements are skipped. */
const ENTERED: ReadonlySet<number> = new Set([
  ID.segment,
  ID.cluster,
  ID.tracks,
  ID.trackEntry,
  ID.blockGroup,
]);
const SOUND = 2;
/** The longest identifier and the longest size. */
const MAX_HEAD_BYTES = 12;
const MAX_PRIVATE_BYTES = 512 * 1024;
const MAX_BLOCK_BYTES = 4 * 1024 * 1024;
const MAX_TRACKS = 64;

export interface Track {
  /** Such as `A_OPUS`. */
  readonly codec: string;
  readonly setup: Buffer;
  readonly packets: Iterable<Buffer>;
}

interface Entry {
  number: number;
  type: number;
  codec: string;
  setup: Buffer;
  isEncoded: boolean;
}

/** Throws if there is no audio track. */
export function readMatroska(file: FileBytes): Track {
  const entries: Entry[] = [];
  for (const { id, at, size } of elements(file, 0)) {
    if (id === ID.cluster) break;
    readTracks(file, entries, { id, at, size });
  }
  const track = entries.find(({ type }) => type === SOUND);
  if (track === undefined) throw new BrokenSound('it has no track of sound');
  if (track.isEncoded) throw new UnknownSound('WebM whose track is compressed once more');
  const { codec, setup, number } = track;
  return { codec, setup, packets: packetsOf(file, number) };
}

interface Element {
  readonly id: number;
  /** The offset of its content. */
  readonly at: number;
  readonly size: number;
}

/**
 * All elements in order, parents before their children. Streamed files have parents without a size;
 * their children are read without it.
 */
function* elements(file: FileBytes, from: number): Generator<Element> {
  let at = from;
  while (at < file.size) {
    const head = file.read(at, MAX_HEAD_BYTES);
    const id = readId(head);
    if (id === null) return;
    const size = readVint(head, id.bytes);
    if (size === null) return;
    at += id.bytes + size.bytes;
    yield { id: id.value, at, size: size.value };
    if (!ENTERED.has(id.value)) at += size.value;
  }
}

/** Includes the bits that encode its length. */
function readId(head: Buffer): { readonly value: number; readonly bytes: number } | null {
  const bytes = Math.clz32(head[0] ?? 0) - 23;
  if (bytes > 4 || head.length < bytes) return null;
  return { value: head.readUIntBE(0, bytes), bytes };
}

/** Without those bits. All ones mean an unknown size; no file is that large. */
function readVint(
  head: Buffer,
  at: number,
): { readonly value: number; readonly bytes: number } | null {
  const first = head[at] ?? 0;
  const bytes = Math.clz32(first) - 23;
  if (bytes > 8 || at + bytes > head.length) return null;
  let value = first & (0xff >> bytes);
  for (let i = 1; i < bytes; i++) value = value * 256 + (head[at + i] ?? 0);
  return { value, bytes };
}

function readTracks(file: FileBytes, entries: Entry[], { id, at, size }: Element): void {
  if (id === ID.trackEntry) {
    if (entries.length >= MAX_TRACKS) throw new BrokenSound(`it has over ${MAX_TRACKS} tracks`);
    const setup = Buffer.alloc(0);
    entries.push({ number: 0, type: 0, codec: '', setup, isEncoded: false });
  }
  const entry = entries.at(-1);
  if (entry === undefined || size > MAX_PRIVATE_BYTES) return;
  const content = (): Buffer => file.read(at, size);
  if (id === ID.trackNumber) entry.number = unsigned(content());
  if (id === ID.trackType) entry.type = unsigned(content());
  if (id === ID.codecId) entry.codec = content().toString('latin1').replace(/\0+$/, '');
  if (id === ID.codecPrivate) entry.setup = Buffer.from(content());
  if (id === ID.contentEncodings) entry.isEncoded = true;
}

function unsigned(content: Buffer): number {
  return content.length === 0 || content.length > 6 ? 0 : content.readUIntBE(0, content.length);
}

function* packetsOf(file: FileBytes, track: number): Generator<Buffer> {
  for (const { id, at, size } of elements(file, 0)) {
    if (id !== ID.simpleBlock && id !== ID.block) continue;
    if (size > MAX_BLOCK_BYTES) throw new BrokenSound('it has a block that is too large');
    const block = file.read(at, size);
    // A truncated block, as in the file of an interrupted recorder.
    if (block.length < size) return;
    const number = readVint(block, 0);
    if (number === null || number.value !== track) continue;
    yield* framesOf(block, number.bytes + 2);
  }
}

const LACING = 0b110;
const XIPH = 0b010;
const FIXED = 0b100;

/** Several frames may share a block: their number and all sizes but the last precede them. */
function* framesOf(block: Buffer, flagsAt: number): Generator<Buffer> {
  const lacing = (block[flagsAt] ?? 0) & LACING;
  const at = flagsAt + 1;
  if (lacing === 0) return yield Buffer.from(block.subarray(at));
  const frames = (block[at] ?? 0) + 1;
  const read = lacing === XIPH ? xiphSizes : lacing === FIXED ? fixedSizes : ebmlSizes;
  const { sizes, start } = read(block, at + 1, frames);
  let from = start;
  for (const size of sizes) {
    if (size < 0 || from + size > block.length) throw new BrokenSound('its blocks do not add up');
    yield Buffer.from(block.subarray(from, from + size));
    from += size;
  }
  if (lacing !== FIXED) yield Buffer.from(block.subarray(from));
  return undefined;
}

interface Sizes {
  readonly sizes: readonly number[];
  /** The start of the first frame. */
  readonly start: number;
}

function xiphSizes(block: Buffer, at: number, frames: number): Sizes {
  const sizes: number[] = [];
  let start = at;
  for (let i = 1; i < frames; i++) {
    let size = 0;
    let byte = 255;
    while (byte === 255 && start < block.length) size += byte = block[start++] ?? 0;
    sizes.push(size);
  }
  return { sizes, start };
}

function fixedSizes(block: Buffer, at: number, frames: number): Sizes {
  const size = Math.floor((block.length - at) / frames);
  return { sizes: Array.from({ length: frames }, () => size), start: at };
}

/** The first size is absolute, each other one is the difference from the one before. */
function ebmlSizes(block: Buffer, at: number, frames: number): Sizes {
  const sizes: number[] = [];
  let start = at;
  for (let i = 1; i < frames; i++) {
    const read = readVint(block, start);
    if (read === null) throw new BrokenSound('its blocks do not add up');
    const middle = 2 ** (7 * read.bytes - 1) - 1;
    const last = sizes.at(-1);
    sizes.push(last === undefined ? read.value : last + read.value - middle);
    start += read.bytes;
  }
  return { sizes, start };
}
