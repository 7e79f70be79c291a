/** WebM by the time of its last block: what a browser records has no duration in its header. */
import type { FileWindow } from './file-window.js';

const ID = {
  start: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** What may hold a time further in. */
const OPENED: ReadonlySet<number> = new Set([ID.segment, ID.info, ID.cluster, ID.blockGroup]);
const MAX_HEADER_BYTES = 12;
/** A track's number, which takes one byte or two, and the time behind it. */
const BLOCK_START_BYTES = 10;
const DEFAULT_SCALE_NS = 1_000_000;

interface Element {
  readonly id: number;
  /** Where its content begins. */
  readonly at: number;
  readonly bytes: number;
}

export function webmSeconds(file: FileWindow): number | null {
  if (elementAt(file, 0)?.id !== ID.start) return null;
  let scaleNs = DEFAULT_SCALE_NS;
  let cluster = 0;
  let last: number | null = null;
  for (let at = 0; ;) {
    const element = elementAt(file, at);
    if (element === null) break;
    const { id, bytes } = element;
    if (id === ID.timestampScale) scaleNs = unsigned(file.bytes(element.at, Math.min(bytes, 8)));
    if (id === ID.timestamp) cluster = unsigned(file.bytes(element.at, Math.min(bytes, 8)));
    if (id === ID.block || id === ID.simpleBlock) {
      last = Math.max(last ?? 0, cluster + blockTime(file.bytes(element.at, BLOCK_START_BYTES)));
    }
    at = element.at + (OPENED.has(id) ? 0 : bytes);
  }
  return last === null ? null : (last * scaleNs) / 1e9;
}

function elementAt(file: FileWindow, at: number): Element | null {
  const header = file.bytes(at, MAX_HEADER_BYTES);
  const idBytes = lengthOf(header[0]);
  const sizeBytes = lengthOf(header[idBytes]);
  if (idBytes === 0 || idBytes > 4 || sizeBytes === 0) return null;
  if (header.length < idBytes + sizeBytes) return null;
  const id = header.readUIntBE(0, idBytes);
  return { id, at: at + idBytes + sizeBytes, bytes: sizeOf(header.subarray(idBytes), sizeBytes) };
}

/** How many bytes a number of variable length takes: its leading zero bits, and one. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23;
}

function sizeOf(bytes: Buffer, length: number): number {
  const [first = 0] = bytes;
  let value = first & (0xff >> length);
  for (const byte of bytes.subarray(1, length)) value = value * 256 + byte;
  return value;
}

function unsigned(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = value * 256 + byte;
  return value;
}

function blockTime(start: Buffer): number {
  const track = lengthOf(start[0]);
  return start.length < track + 2 ? 0 : start.readInt16BE(track);
}
