/** MP4 by its movie header: music-metadata knows sound alone, and many films have none. */
import type { FileWindow } from './file-window.js';

const BOX_HEADER_BYTES = 8;
const LONG_BOX_HEADER_BYTES = 16;
/** Far more than a file has at its top and in its `moov` together. */
const MAX_BOXES = 10_000;
const MOVIE_HEADER_BYTES = 40;

export function mp4Seconds(file: FileWindow): number | null {
  if (boxAt(file, 0)?.name !== 'ftyp') return null;
  for (let at = 0, boxes = 0; boxes < MAX_BOXES; boxes++) {
    const box = boxAt(file, at);
    if (box === null) return null;
    if (box.name === 'mvhd') return movieSeconds(file.bytes(at + box.header, MOVIE_HEADER_BYTES));
    at += box.name === 'moov' ? box.header : box.bytes;
  }
  return null;
}

function boxAt(
  file: FileWindow,
  at: number,
): { readonly name: string; readonly header: number; readonly bytes: number } | null {
  const start = file.bytes(at, LONG_BOX_HEADER_BYTES);
  if (start.length < BOX_HEADER_BYTES) return null;
  const name = start.toString('latin1', 4, 8);
  const short = start.readUInt32BE(0);
  // 1: the size stands behind the name, in eight bytes; 0: the box ends with the file.
  if (short !== 1) return short < BOX_HEADER_BYTES ? null : { name, header: 8, bytes: short };
  if (start.length < LONG_BOX_HEADER_BYTES) return null;
  const bytes = Number(start.readBigUInt64BE(8));
  return bytes < LONG_BOX_HEADER_BYTES ? null : { name, header: LONG_BOX_HEADER_BYTES, bytes };
}

function movieSeconds(header: Buffer): number | null {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? 32 : 20)) return null;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  const isUnknown = duration === 0xffffffff || duration >= 2 ** 63;
  return scale === 0 || isUnknown ? null : duration / scale;
}
