/** PNG files of one byte a pixel, each a place in a palette of 256 colours. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

/**
 * A picture that is drawn small and shown large: each of its dots covers `scale` × `scale`
 * pixels.
 */
export interface Dots {
  /** Of the finished picture, in pixels; the last dots may be cut. */
  readonly width: number;
  readonly height: number;
  readonly scale: number;
  /** 256 times red, green and blue. */
  readonly palette: Buffer;
  /** The colours of one row of dots, from left to right. */
  readonly row: (y: number) => Uint8Array;
}

/** How a line is written: as it is, or as what differs from the line above. */
const PLAIN = 0;
const SAME_AS_ABOVE = 2;

export async function encodePng(dots: Dots): Promise<Buffer> {
  const packed = await promisify(deflate)(linesOf(dots), { level: 1 });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header(dots)),
    chunk('PLTE', dots.palette),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * A byte for the filter before each line. Repeated lines are zeros, which pack to nearly nothing.
 */
function linesOf({ width, height, scale, row }: Dots): Buffer {
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    const line = lines.subarray(y * (width + 1), (y + 1) * (width + 1));
    line[0] = y % scale === 0 ? PLAIN : SAME_AS_ABOVE;
    if (y % scale === 0) spread(row(y / scale), scale, line);
  }
  return lines;
}

function spread(row: Uint8Array, scale: number, line: Buffer): void {
  for (let x = 1; x < line.length; x++) line[x] = row[Math.floor((x - 1) / scale)] ?? 0;
}

/** Eight bits a pixel from a palette; no interlacing. */
function header({ width, height }: Dots): Buffer {
  const body = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  return body;
}

/** The checksum covers the name and the body. */
function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
