/** PNG as a list of chunks: reads untrusted files, and writes. */
import { crc32 } from 'node:zlib';

export interface PngChunk {
  /** Four letters: `IHDR`, `IDAT`, … */
  readonly type: string;
  readonly data: Buffer;
}

/** The header of an image, from IHDR. */
export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly colourType: number;
  readonly interlaced: boolean;
}

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

const HEADER_BYTES = 13;

/** Around the data of each chunk: length, type and checksum. */
const LENGTH_BYTES = 4;

const FRAME_BYTES = 12;

/**
 * More than any encoder makes; otherwise every twelve bytes of an untrusted file would cost an
 * object.
 */
export const MAX_CHUNKS = 4_096;

export function isPng(bytes: Uint8Array): boolean {
  return PNG_SIGNATURE.equals(bytes.subarray(0, PNG_SIGNATURE.length));
}

/**
 * The whole chunks, up to IEND: data after it is not part of the file, nor are chunks after the
 * first `MAX_CHUNKS`. Empty if the bytes are not a PNG. The data are views of the bytes.
 */
export function readChunks(bytes: Buffer): PngChunk[] {
  const chunks: PngChunk[] = [];
  if (!isPng(bytes)) return chunks;
  let at = PNG_SIGNATURE.length;
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
  return Buffer.concat([PNG_SIGNATURE, ...chunks.flatMap(framed)]);
}

/** Null if the first chunk is not a header. */
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

// Width and height of a PNG, JPEG or WebP, from its header.

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Null if the bytes are none of the three formats, or end too early. */
export function readImageSize(image: Buffer): ImageSize | null {
  const size = sizeOf(image);
  if (size === null || size.width === 0 || size.height === 0) return null;
  return { width: size.width, height: size.height };
}

function sizeOf(image: Buffer): ImageSize | null {
  if (isPng(image)) return readHeader(readChunks(image.subarray(0, PNG_START_BYTES)));
  if (image.length > 4 && image.readUInt16BE(0) === 0xffd8) return jpegSize(image);
  if (image.length >= WEBP_START_BYTES && image.toString('latin1', 8, 12) === 'WEBP') {
    return webpSize(image);
  }
  return null;
}

/** Signature and IHDR. */
const PNG_START_BYTES = 33;

const WEBP_START_BYTES = 30;

/** C4, C8 and CC are tables; all others between C0 and CF start a frame. */
const TABLES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

function jpegSize(image: Buffer): ImageSize | null {
  let at = 2;
  while (at + 9 <= image.length && image.readUInt8(at) === 0xff) {
    const marker = image.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && !TABLES.has(marker)) {
      return { height: image.readUInt16BE(at + 5), width: image.readUInt16BE(at + 7) };
    }
    at += 2 + image.readUInt16BE(at + 2);
  }
  return null;
}

/** Three forms: lossy, lossless, and extended. */
function webpSize(image: Buffer): ImageSize | null {
  switch (image.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: image.readUInt16LE(26) & 0x3fff, height: image.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = image.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: image.readUIntLE(24, 3) + 1, height: image.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}
