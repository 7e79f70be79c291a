/** Ogg, the container of Opus and Vorbis (RFC 3533): pages of packets, each with a checksum. */
import { randomBytes } from 'node:crypto';
import type { FileBytes } from './file-bytes.js';
import { BrokenSound } from './sound.js';

const HEADER_BYTES = 27;
const MAX_SEGMENTS = 255;
const SEGMENT_BYTES = 255;
const MAX_PAGE_BYTES = HEADER_BYTES + MAX_SEGMENTS + MAX_SEGMENTS * SEGMENT_BYTES;
/** Far more than a packet of sound, or the tables of Vorbis, take. */
const MAX_PACKET_BYTES = 512 * 1024;
const CONTINUED = 1;
const FIRST = 2;
const LAST = 4;
/** No packet ends on the page. */
const NO_POSITION = 0xffff_ffff_ffff_ffffn;

/** The packets that end on one page of the stream. */
export interface OggPage {
  readonly packets: readonly Buffer[];
  /** Samples from the stream's beginning to the end of the last packet; null where none ends. */
  readonly position: number | null;
  /** The stream ends here. */
  readonly isLast: boolean;
}

/**
 * The pages of the first stream whose first packet `isWanted`. Bytes between pages are skipped;
 * whatever follows the stream's last page is left.
 */
export function* oggPages(
  file: FileBytes,
  isWanted: (packet: Buffer) => boolean,
): Generator<OggPage> {
  let serial: number | null = null;
  let begun: Buffer[] = [];
  for (const page of rawPages(file)) {
    if (serial === null && page.flags & FIRST) {
      if (isWanted(page.body.subarray(0, page.lacing[0] ?? 0))) ({ serial } = page);
    }
    if (page.serial !== serial) continue;
    if (!(page.flags & CONTINUED)) begun = [];
    const { packets, open } = packetsOf(page, begun);
    begun = open;
    const isLast = (page.flags & LAST) !== 0;
    const { position } = page;
    yield { packets, position: position === NO_POSITION ? null : Number(position), isLast };
    if (isLast) return;
  }
}

interface RawPage {
  readonly flags: number;
  readonly position: bigint;
  readonly serial: number;
  readonly lacing: Buffer;
  readonly body: Buffer;
}

function* rawPages(file: FileBytes): Generator<RawPage> {
  let at = 0;
  while (at + HEADER_BYTES <= file.size) {
    const bytes = file.read(at, MAX_PAGE_BYTES);
    if (bytes.toString('latin1', 0, 4) !== 'OggS') {
      const next = bytes.indexOf('OggS', 1, 'latin1');
      // The mark may begin at the very end of what was looked at.
      at += next === -1 ? Math.max(1, bytes.length - 3) : next;
      continue;
    }
    const segments = bytes.readUInt8(26);
    const lacing = Buffer.from(bytes.subarray(HEADER_BYTES, HEADER_BYTES + segments));
    const start = HEADER_BYTES + segments;
    const size = lacing.reduce((sum, length) => sum + length, 0);
    if (start + size > bytes.length) return;
    yield {
      flags: bytes.readUInt8(5),
      position: bytes.readBigUInt64LE(6),
      serial: bytes.readUInt32LE(14),
      lacing,
      body: Buffer.from(bytes.subarray(start, start + size)),
    };
    at += start + size;
  }
}

/** A packet ends with a segment that is not full; what is open goes on with the next page. */
function packetsOf({ lacing, body }: RawPage, begun: readonly Buffer[]) {
  const packets: Buffer[] = [];
  let open = [...begun];
  let openBytes = open.reduce((sum, { length }) => sum + length, 0);
  let at = 0;
  for (const length of lacing) {
    open.push(body.subarray(at, at + length));
    openBytes += length;
    at += length;
    if (openBytes > MAX_PACKET_BYTES) throw new BrokenSound('it has a packet without an end');
    if (length === SEGMENT_BYTES) continue;
    packets.push(Buffer.concat(open));
    open = [];
    openBytes = 0;
  }
  return { packets, open };
}

/** Writes one stream. Packets gather on a page until it is full or `flush` ends it. */
export class OggWriter {
  readonly #write: (page: Buffer) => void;
  readonly #serial = randomBytes(4).readUInt32LE();
  #number = 0;
  #lacing: number[] = [];
  #packets: Uint8Array[] = [];
  #position = 0;

  constructor(write: (page: Buffer) => void) {
    this.#write = write;
  }

  /** `position` counts the samples to the packet's end. No packet is larger than a page. */
  packet(packet: Uint8Array, position: number): void {
    const segments = Math.floor(packet.length / SEGMENT_BYTES) + 1;
    if (this.#lacing.length + segments > MAX_SEGMENTS) this.flush();
    for (let i = 1; i < segments; i++) this.#lacing.push(SEGMENT_BYTES);
    this.#lacing.push(packet.length % SEGMENT_BYTES);
    this.#packets.push(packet);
    this.#position = position;
  }

  /** Ends the page; the last one of the stream is told so, and may be empty. */
  flush(isLast = false): void {
    if (this.#lacing.length === 0 && !isLast) return;
    const head = Buffer.alloc(HEADER_BYTES);
    head.write('OggS', 'latin1');
    head.writeUInt8((this.#number === 0 ? FIRST : 0) | (isLast ? LAST : 0), 5);
    head.writeBigUInt64LE(BigInt(this.#position), 6);
    head.writeUInt32LE(this.#serial, 14);
    head.writeUInt32LE(this.#number, 18);
    head.writeUInt8(this.#lacing.length, 26);
    const page = Buffer.concat([head, Buffer.from(this.#lacing), ...this.#packets]);
    page.writeUInt32LE(checksum(page), 22);
    this.#write(page);
    this.#number += 1;
    this.#lacing = [];
    this.#packets = [];
  }
}

/** The polynomial 0x04c11db7, bits as they come, over the page with zeros in the sum's place. */
function checksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) sum = ((sum << 8) ^ (SUMS[((sum >>> 24) & 0xff) ^ byte] ?? 0)) >>> 0;
  return sum;
}

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000_0000 ? (sum << 1) ^ 0x04c1_1db7 : sum << 1;
  return sum >>> 0;
});
