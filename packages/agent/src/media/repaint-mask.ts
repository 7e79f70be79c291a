/**
 * OpenAI's mask is transparent in the area to edit; Stable Diffusion's is white there. Only the
 * alpha values are read: PNG's filters never mix the bytes of two channels.
 */
import { promisify } from 'node:util';
import { createInflate, deflate } from 'node:zlib';
import { headerChunk, readChunks, readHeader, writeChunks } from './images.js';
import type { PngChunk, PngHeader } from './images.js';

export type RepaintMask =
  | { readonly kind: 'mask'; readonly png: Buffer }
  /** The fault, to follow the file's name: "is no PNG". */
  | { readonly kind: 'unusable'; readonly fault: string };

/** The largest side of an image that a caller may request. */
const MAX_SIDE = 4_096;

/** A grey PNG of the same size, white where the mask is transparent. */
export async function repaintMask(png: Buffer): Promise<RepaintMask> {
  const chunks = readChunks(png);
  const header = readHeader(chunks);
  if (header === null) return unusable('is no PNG');
  const { width, height, interlaced } = header;
  if (Math.max(width, height) > MAX_SIDE || Math.min(width, height) < 1) {
    return unusable(`is ${width}x${height}, and ${MAX_SIDE} a side is the most`);
  }
  if (interlaced) return unusable('is an interlaced PNG');
  const layout = layoutOf(header, chunks);
  if (layout === null) return unusable('has no transparency');
  const grey = await readGrey(chunks, { header, layout }).catch(() => null);
  if (grey === null) return unusable('is a damaged PNG');
  return { kind: 'mask', png: await greyPng(header, grey) };
}

/** The offset of each pixel's alpha value in a row. */
interface Layout {
  readonly rowBytes: number;
  /** The first relevant byte, and the step to the next. */
  readonly offset: number;
  readonly stride: number;
  /** The grey value of a pixel, from the relevant bytes of its row. */
  readonly grey: (plane: Uint8Array, x: number) => number;
}

const GREY_ALPHA = 4;
const PALETTE = 3;
const RGB_ALPHA = 6;
const OPAQUE = 255;

/** Null if the pixels have no alpha value. */
function layoutOf(header: PngHeader, chunks: readonly PngChunk[]): Layout | null {
  const { width, bitDepth, colourType } = header;
  if (colourType === PALETTE) return paletteLayout(header, chunks);
  if (colourType !== GREY_ALPHA && colourType !== RGB_ALPHA) return null;
  if (bitDepth !== 8 && bitDepth !== 16) return null;
  const stride = ((colourType === RGB_ALPHA ? 4 : 2) * bitDepth) / 8;
  const offset = stride - bitDepth / 8;
  return { rowBytes: width * stride, offset, stride, grey: inverted };
}

function inverted(plane: Uint8Array, x: number): number {
  return OPAQUE - (plane[x] ?? OPAQUE);
}

/**
 * Several pixels share a byte if there are few colours; colours after the end of the alpha list are
 * opaque.
 */
function paletteLayout(header: PngHeader, chunks: readonly PngChunk[]): Layout | null {
  const alphas = chunks.find(({ type }) => type === 'tRNS')?.data;
  const { width, bitDepth } = header;
  if (alphas === undefined || ![1, 2, 4, 8].includes(bitDepth)) return null;
  const pixelsPerByte = 8 / bitDepth;
  const grey = (plane: Uint8Array, x: number): number => {
    const byte = plane[Math.floor(x / pixelsPerByte)] ?? 0;
    const shift = 8 - bitDepth * ((x % pixelsPerByte) + 1);
    return OPAQUE - (alphas[(byte >> shift) & ((1 << bitDepth) - 1)] ?? OPAQUE);
  };
  return { rowBytes: Math.ceil(width / pixelsPerByte), offset: 0, stride: 1, grey };
}

interface Reading {
  readonly header: PngHeader;
  readonly layout: Layout;
}

/**
 * The rows of the grey PNG, each after its filter byte. Row by row, so nothing is in memory twice.
 */
async function readGrey(chunks: readonly PngChunk[], reading: Reading): Promise<Buffer | null> {
  const { width, height } = reading.header;
  const grey = Buffer.alloc((width + 1) * height);
  let above = new Uint8Array(planeBytes(reading.layout));
  let y = 0;
  for await (const row of rows(chunks, reading.layout.rowBytes + 1)) {
    if (y === height) break;
    above = unfilter(row, above, reading.layout);
    const start = y * (width + 1) + 1;
    for (let x = 0; x < width; x++) grey[start + x] = reading.layout.grey(above, x);
    y++;
  }
  return y === height ? grey : null;
}

/** Yields to the event loop between two pieces of the inflated data. */
async function* rows(chunks: readonly PngChunk[], rowBytes: number): AsyncGenerator<Buffer> {
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
  const inflate = createInflate();
  inflate.end(Buffer.concat(packed));
  let rest = Buffer.alloc(0);
  for await (const piece of inflate as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, piece]);
    let at = 0;
    for (; at + rowBytes <= rest.length; at += rowBytes) yield rest.subarray(at, at + rowBytes);
    rest = rest.subarray(at);
  }
}

function planeBytes({ rowBytes, stride }: Layout): number {
  return Math.ceil(rowBytes / stride);
}

/** The relevant bytes of a row, which is stored as differences from its neighbours. */
function unfilter(row: Buffer, above: Uint8Array, layout: Layout): Uint8Array<ArrayBuffer> {
  const plane = new Uint8Array(above.length);
  const filter = row[0] ?? 0;
  for (let i = 0; i < plane.length; i++) {
    const stored = row[1 + layout.offset + i * layout.stride] ?? 0;
    const left = plane[i - 1] ?? 0;
    const upper = above[i] ?? 0;
    plane[i] = stored + predicted(filter, { left, upper, corner: above[i - 1] ?? 0 });
  }
  return plane;
}

interface Neighbours {
  readonly left: number;
  readonly upper: number;
  readonly corner: number;
}

function predicted(filter: number, { left, upper, corner }: Neighbours): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return upper;
    case 3:
      return (left + upper) >> 1;
    case 4:
      return paeth({ left, upper, corner });
    default:
      throw new RangeError(`PNG has no filter ${filter}`);
  }
}

function paeth({ left, upper, corner }: Neighbours): number {
  const estimate = left + upper - corner;
  const toLeft = Math.abs(estimate - left);
  const toUpper = Math.abs(estimate - upper);
  const toCorner = Math.abs(estimate - corner);
  if (toLeft <= toUpper && toLeft <= toCorner) return left;
  return toUpper <= toCorner ? upper : corner;
}

async function greyPng({ width, height }: PngHeader, grey: Buffer): Promise<Buffer> {
  return writeChunks([
    headerChunk({ width, height, bitDepth: 8, colourType: 0 }),
    { type: 'IDAT', data: await promisify(deflate)(grey) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
}

function unusable(fault: string): RepaintMask {
  return { kind: 'unusable', fault };
}
