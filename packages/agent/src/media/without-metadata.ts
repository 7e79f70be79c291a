/**
 * Removes the metadata of an image that is there whole. Image servers put the prompt, the model's
 * file name and sometimes the owner's paths there, and none of it may leave the machine.
 */
/** The same JPEG or WebP, which may be truncated, without text, EXIF and XMP. */
export function withoutMetadata(image: Buffer): Buffer {
  if (image.length > 4 && image.readUInt16BE(0) === JPEG_START) return cleanJpeg(image);
  if (isWebp(image)) return cleanWebp(image);
  return image;
}

const JPEG_START = 0xffd8;

const WEBP_HEADER_BYTES = 12;

/** Pixels, transparency, animation and colours. Programs may add chunks with other names. */
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
    // A chunk of odd length is followed by a padding byte.
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

// A JPEG without the segments that are not part of its picture.

const JPEG_START_BYTES = 2;

const MARKER_BYTES = 2;

const LENGTH_BYTES = 2;

const FILL = 0xff;

const STUFFED = 0x00;

const RESTART_FIRST = 0xd0;

const RESTART_LAST = 0xd7;

const END_OF_IMAGE = 0xd9;

const START_OF_SCAN = 0xda;

const APP0 = 0xe0;

const APP15 = 0xef;

const COMMENT = 0xfe;

/** Only these application segments are needed to read the pixels: size and colours. */
const KEPT_APPLICATIONS: ReadonlyMap<number, string> = new Map([
  [APP0, 'JFIF\0'],
  [0xe2, 'ICC_PROFILE\0'],
  [0xee, 'Adobe'],
]);

/** Up to the end of the image: data after it is not part of it. */
function cleanJpeg(image: Buffer): Buffer {
  // Written into one buffer, because a file can have millions of segments.
  const clean = Buffer.alloc(image.length);
  let bytes = image.copy(clean, 0, 0, JPEG_START_BYTES);
  let at = JPEG_START_BYTES;
  while (at + MARKER_BYTES <= image.length && image[at] === FILL) {
    const end = endOfSegment(image, at);
    if (!isMetadata(image, at)) bytes += image.copy(clean, bytes, at, end);
    if (image[at + 1] === END_OF_IMAGE) break;
    at = end;
  }
  return clean.subarray(0, bytes);
}

/** A scan ends where its pixels end. */
function endOfSegment(image: Buffer, at: number): number {
  const marker = image[at + 1] ?? FILL;
  if (marker === FILL) return at + 1;
  if (marker === END_OF_IMAGE || isRestart(marker)) return at + MARKER_BYTES;
  const data = at + MARKER_BYTES;
  // A segment that is truncated within its length has nothing after it.
  if (data + LENGTH_BYTES > image.length) return image.length;
  const end = Math.max(data + LENGTH_BYTES, data + image.readUInt16BE(data));
  return marker === START_OF_SCAN ? endOfScan(image, end) : end;
}

/** Pixel data contains the byte FF only as FF 00, with restart marks in between. */
function endOfScan(image: Buffer, start: number): number {
  let at = image.indexOf(FILL, start);
  while (at >= 0) {
    let next = at + 1;
    while (image[next] === FILL) next++;
    const marker = image[next];
    if (marker === undefined) break;
    if (marker !== STUFFED && !isRestart(marker)) return at;
    at = image.indexOf(FILL, next);
  }
  return image.length;
}

function isRestart(marker: number): boolean {
  return marker >= RESTART_FIRST && marker <= RESTART_LAST;
}

/** Includes fill bytes, of which any number may precede a marker. */
function isMetadata(image: Buffer, at: number): boolean {
  const marker = image[at + 1] ?? FILL;
  if (marker === FILL || marker === COMMENT) return true;
  if (marker < APP0 || marker > APP15) return false;
  const name = KEPT_APPLICATIONS.get(marker);
  const start = at + MARKER_BYTES + LENGTH_BYTES;
  return name === undefined || image.toString('latin1', start, start + name.length) !== name;
}
