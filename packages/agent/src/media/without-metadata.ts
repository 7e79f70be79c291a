/**
 * An image without what is written beside its pixels. Image servers put the prompt, the model's
 * file name and sometimes the owner's paths there, and none of it may leave the house.
 */
import { cleanJpeg } from './clean-jpeg.js';
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
const WEBP_HEADER_BYTES = 12;
/** Pixels, transparency, movement and colours. Anybody may add chunks of other names. */
const WEBP_PICTURE: ReadonlySet<string> = new Set('VP8 ,VP8L,VP8X,ALPH,ANIM,ANMF,ICCP'.split(','));
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
    if (WEBP_PICTURE.has(type)) kept.push(announced(type, image.subarray(at, end)));
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
