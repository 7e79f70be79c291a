/** PNG files of eight bits a colour, written without a library. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of every pixel, row after row. */
  readonly colours: Uint8Array;
}

const BYTES_A_PIXEL = 3;
/** Each row as what differs from the one above: skies pack to a third of their size. */
const FILTER_UP = 2;
const PACKING = { level: 6 } as const;

export async function encodePng({ width, height, colours }: Picture): Promise<Buffer> {
  const stride = width * BYTES_A_PIXEL;
  const lines = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const line = lines.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    line[0] = FILTER_UP;
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : (colours[(y - 1) * stride + x] ?? 0);
      line[x + 1] = ((colours[y * stride + x] ?? 0) - above) & 0xff;
    }
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header(width, height)),
    chunk('IDAT', await promisify(deflate)(lines, PACKING)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function header(width: number, height: number): Buffer {
  const body = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  return body;
}

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
