/** Width and height of a PNG, JPEG or WebP, from its header. */
import { isPng, readChunks, readHeader } from './png.js';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Null where the bytes are none of the three, or break off too early. */
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

/** C4, C8 and CC are tables, all others between C0 and CF begin a frame. */
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
