/** PNG as a list of chunks, read without trust and written again. */
import { crc32 } from 'node:zlib';

export interface PngChunk {
  /** Four letters: `IHDR`, `IDAT`, … */
  readonly type: string;
  readonly data: Buffer;
}

/** The header of an image, as IHDR tells. */
export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly colourType: number;
  readonly interlaced: boolean;
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const HEADER_BYTES = 13;
/** Around the data of each chunk: length, type and checksum. */
const LENGTH_BYTES = 4;
const FRAME_BYTES = 12;
/** More than any encoder makes; twelve bytes of a stranger's file would cost an object each. */
const MAX_CHUNKS = 4_096;

export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.equals(bytes.subarray(0, SIGNATURE.length));
}

/**
 * The chunks as far as they are whole, up to IEND: what a file carries behind its end is no part
 * of it, nor what follows the first `MAX_CHUNKS`. Empty where the bytes are no PNG. The data are
 * views of the bytes.
 */
export function readChunks(bytes: Buffer): PngChunk[] {
  const chunks: PngChunk[] = [];
  if (!isPng(bytes)) return chunks;
  let at = SIGNATURE.length;
  while (at + FRAME_BYTES <= bytes.length && chunks.length < MAX_CHUNKS) {
    const length = bytes.readUInt32BE(at);
    const end = at + FRAME_BYTES + length;
    if (end > bytes.length) break;
    const type = bytes.toString('latin1', at + LENGTH_BYTES, at + 2 * LENGTH_BYTES);
    chunks.push({ type, data: bytes.subarray(at + 2 * LENGTH_BYTES, end - LENGTH_BYTES) });
    if (type === 'IEND') break;
    at = end;
  }
  return chunks;
}

export function writeChunks(chunks: readonly PngChunk[]): Buffer {
  return Buffer.concat([SIGNATURE, ...chunks.flatMap(framed)]);
}

/** Null where the first chunk is no header. */
export function readHeader([first]: readonly PngChunk[]): PngHeader | null {
  if (first?.type !== 'IHDR' || first.data.length < HEADER_BYTES) return null;
  const { data } = first;
  return {
    width: data.readUInt32BE(0),
    height: data.readUInt32BE(4),
    bitDepth: data.readUInt8(8),
    colourType: data.readUInt8(9),
    interlaced: data.readUInt8(12) !== 0,
  };
}

/** A header without interlacing. */
export function headerChunk(header: Omit<PngHeader, 'interlaced'>): PngChunk {
  const data = Buffer.alloc(HEADER_BYTES);
  data.writeUInt32BE(header.width, 0);
  data.writeUInt32BE(header.height, 4);
  data.writeUInt8(header.bitDepth, 8);
  data.writeUInt8(header.colourType, 9);
  return { type: 'IHDR', data };
}

function framed({ type, data }: PngChunk): Buffer[] {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(data.length);
  const name = Buffer.from(type, 'latin1');
  const checksum = Buffer.alloc(LENGTH_BYTES);
  checksum.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, checksum];
}
