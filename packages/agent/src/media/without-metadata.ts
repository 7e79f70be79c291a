/**
 * An image without what is written beside its pixels. Image servers put the prompt, the model's
 * file name and sometimes the owner's paths there, and none of it may leave the house.
 */
import { isPng, readChunks, writeChunks } from './png.js';

/**
 * The same image without text, EXIF, XMP and times. PNG, JPEG and WebP are known, and end where
 * they break off; anything else stays as it is.
 */
export function withoutMetadata(image: Buffer): Buffer {
  if (isPng(image)) return cleanPng(image);
  if (image.length > 4 && image.readUInt16BE(0) === JPEG_START) return cleanJpeg(image);
  if (isWebp(image)) return cleanWebp(image);
  return image;
}

const PNG_METADATA: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME', 'dSIG']);

/** A small first letter marks a chunk that no picture needs, a small second one a private one. */
const PRIVATE = /^[a-z]{2}/;

function cleanPng(image: Buffer): Buffer {
  const kept = readChunks(image).filter(
    ({ type }) => !PNG_METADATA.has(type) && !PRIVATE.test(type),
  );
  return writeChunks(kept);
}

const JPEG_START = 0xffd8;
const START_OF_SCAN = 0xda;
/** JFIF's own segment, and Adobe's, without which the colours are read wrong. */
const APP0 = 0xe0;
const APP14 = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;

/** Segments up to the first scan; from there on all is image. */
function cleanJpeg(image: Buffer): Buffer {
  const kept = [image.subarray(0, 2)];
  let at = 2;
  while (at + 4 <= image.length && image.readUInt8(at) === 0xff) {
    const marker = image.readUInt8(at + 1);
    const end = marker === START_OF_SCAN ? image.length : at + 2 + image.readUInt16BE(at + 2);
    if (!isJpegMetadata(marker)) kept.push(image.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

function isJpegMetadata(marker: number): boolean {
  if (marker === COMMENT) return true;
  return marker > APP0 && marker <= APP15 && marker !== APP14 && marker !== ICC_PROFILE;
}

/** APP2 holds the colour profile. */
const ICC_PROFILE = 0xe2;

const WEBP_HEADER_BYTES = 12;
const WEBP_METADATA: ReadonlySet<string> = new Set(['EXIF', 'XMP ']);
/** The bits of VP8X that announce EXIF and XMP. */
const WEBP_METADATA_FLAGS = 0b1100;

function isWebp(image: Buffer): boolean {
  return image.toString('latin1', 0, 4) === 'RIFF' && image.toString('latin1', 8, 12) === 'WEBP';
}

function cleanWebp(image: Buffer): Buffer {
  const kept: Buffer[] = [];
  let at = WEBP_HEADER_BYTES;
  while (at + 8 <= image.length) {
    const type = image.toString('latin1', at, at + 4);
    const bytes = image.readUInt32LE(at + 4);
    // A chunk of odd length is followed by a byte that fills it up.
    const end = at + 8 + bytes + (bytes % 2);
    if (end > image.length) break;
    if (!WEBP_METADATA.has(type)) kept.push(announced(type, image.subarray(at, end)));
    at = end;
  }
  const header = Buffer.from(image.subarray(0, WEBP_HEADER_BYTES));
  const clean = Buffer.concat([header, ...kept]);
  clean.writeUInt32LE(clean.length - 8, 4);
  return clean;
}

function announced(type: string, chunk: Buffer): Buffer {
  if (type !== 'VP8X' || chunk.length < 9) return chunk;
  const copy = Buffer.from(chunk);
  copy.writeUInt8(copy.readUInt8(8) & ~WEBP_METADATA_FLAGS, 8);
  return copy;
}
