/** FLAC and MP3 without the tags before their sound. */
import type { ByteCursor } from './byte-cursor.js';

const MARK_BYTES = 4;
const BLOCK_HEADER_BYTES = 4;
const LAST_BLOCK = 0x80;
/** Of FLAC's blocks these tell how to read the sound: its form, and where to find what. */
const KEPT_BLOCKS: ReadonlySet<number> = new Set([0, 3]);
const PADDING_BLOCK = 1;

/** Other blocks become padding of the same length. */
export async function* cleanFlac(file: ByteCursor): AsyncGenerator<Buffer> {
  yield await file.take(MARK_BYTES);
  for (;;) {
    const head = Buffer.from(await file.take(BLOCK_HEADER_BYTES));
    const first = head[0];
    if (first === undefined || head.length < BLOCK_HEADER_BYTES) return yield head;
    const data = await file.take(head.readUIntBE(1, 3));
    const isKept = KEPT_BLOCKS.has(first & ~LAST_BLOCK);
    if (!isKept) head[0] = (first & LAST_BLOCK) | PADDING_BLOCK;
    yield Buffer.concat([head, isKept ? data : Buffer.alloc(data.length)]);
    if ((first & LAST_BLOCK) !== 0) return yield* file.pass(Infinity);
  }
}

const ID3_HEADER_BYTES = 10;
const FOOTER_FLAG = 0x10;

/** From behind the tag, where there is one. */
export async function* cleanMp3(file: ByteCursor): AsyncGenerator<Buffer> {
  const head = await file.take(ID3_HEADER_BYTES);
  const isTag = head.length === ID3_HEADER_BYTES && head.toString('latin1', 0, 3) === 'ID3';
  if (isTag) await drop(file.pass(tagBytes(head)));
  else yield head;
  yield* file.pass(Infinity);
}

async function drop(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _piece of pieces);
}

/** Seven bits of each byte of its length count. */
function tagBytes(head: Buffer): number {
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0);
  return size + ((head.readUInt8(5) & FOOTER_FLAG) === 0 ? 0 : ID3_HEADER_BYTES);
}
