/** The mock's only image: a PNG whose parts are in order and whose pixels are noise. */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** A square of 1,024 pixels a side, 8 bits each of red, green and blue. */
const IHDR = Buffer.from('00000400000004000802000000', 'hex');
/** The length, name and checksum of a chunk. */
const CHUNK_FRAME_BYTES = 12;

export function noisePng(fileBytes: number): Buffer {
  const start = [SIGNATURE, chunk('IHDR', IHDR)];
  const end = chunk('IEND', Buffer.alloc(0));
  const taken = Buffer.concat([...start, end]).length + CHUNK_FRAME_BYTES;
  return Buffer.concat([...start, chunk('IDAT', randomBytes(fileBytes - taken)), end]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
