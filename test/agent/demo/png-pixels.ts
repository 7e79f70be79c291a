/** Reads back a PNG file of the demo, by the PNG specification rather than by its writer. */
import { crc32, inflateSync } from 'node:zlib';

export interface PngPixels {
  readonly width: number;
  readonly height: number;
  /** 256 times red, green and blue. */
  readonly palette: Buffer;
  /** One palette place a pixel, row by row. */
  readonly pixels: Buffer;
}

/** Throws if a signature, checksum, length or filter is not as the specification has it. */
export function readPng(png: Buffer): PngPixels {
  if (png.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('not a PNG file');
  const chunks = readChunks(png);
  if (chunks.map(({ name }) => name).join(' ') !== 'IHDR PLTE IDAT IEND') {
    throw new Error(`chunks are ${chunks.map(({ name }) => name).join(' ')}`);
  }
  const [header, palette, data] = chunks.map(({ body }) => body) as [Buffer, Buffer, Buffer];
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header.subarray(8).toString('hex') !== '0803000000') throw new Error('not 8 bit, indexed');
  return { width, height, palette, pixels: unfilter(inflateSync(data), width, height) };
}

function readChunks(png: Buffer): { name: string; body: Buffer }[] {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const end = at + 8 + png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    if (png.readUInt32BE(end) !== crc32(png.subarray(at + 4, end))) {
      throw new Error(`wrong checksum of ${name}`);
    }
    chunks.push({ name, body: png.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}

function unfilter(lines: Buffer, width: number, height: number): Buffer {
  if (lines.length !== (width + 1) * height) throw new Error(`${lines.length} bytes of lines`);
  const pixels = Buffer.alloc(width * height);
  for (let i = 0; i < pixels.length; i++) {
    const y = Math.floor(i / width);
    const filter = lines[y * (width + 1)];
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter} in line ${y}`);
    const above = filter === 2 ? (pixels[i - width] ?? 0) : 0;
    pixels[i] = (lines[i + y + 1] ?? 0) + above;
  }
  return pixels;
}
