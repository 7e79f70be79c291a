/**
 * An MP4 without what is written beside its pictures and sounds. What goes is overwritten with
 * padding of the same length: the film's index counts bytes from the start of the file.
 */
import type { ByteCursor } from './byte-cursor.js';

const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** Boxes that hold others, down to where a film's and its tracks' descriptions are. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak']);
const METADATA: ReadonlySet<string> = new Set(['udta', 'meta', 'uuid']);
const PADDING = 'free';
/** An index of hours; a longer one passes as it is. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export async function* cleanMp4(file: ByteCursor): AsyncGenerator<Buffer> {
  for (;;) {
    const head = await readHead(file);
    const box = head.length < HEADER_BYTES ? null : readBox(head);
    if (box === null) {
      yield head;
      return yield* file.pass(Infinity);
    }
    const isHeld = CONTAINERS.has(box.type) || METADATA.has(box.type);
    if (isHeld && box.size <= MAX_HELD_BYTES) {
      // A copy: what is overwritten may be seen elsewhere.
      const whole = Buffer.concat([head, await file.take(box.size - head.length)]);
      blank(whole, 0);
      yield whole;
    } else {
      yield head;
      yield* file.pass(box.size - head.length);
    }
  }
}

async function readHead(file: ByteCursor): Promise<Buffer> {
  const head = await file.take(HEADER_BYTES);
  const isLong = head.length === HEADER_BYTES && head.readUInt32BE(0) === 1;
  if (!isLong) return head;
  return Buffer.concat([head, await file.take(LONG_HEADER_BYTES - HEADER_BYTES)]);
}

interface Box {
  readonly type: string;
  /** With its header. */
  readonly size: number;
  readonly headerBytes: number;
}

/** Null where it reaches to the end of the file, or makes no sense. */
function readBox(head: Buffer): Box | null {
  const short = head.readUInt32BE(0);
  const headerBytes = short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES;
  if (head.length < headerBytes) return null;
  const size = short === 1 ? Number(head.readBigUInt64BE(HEADER_BYTES)) : short;
  return size < headerBytes ? null : { type: head.toString('latin1', 4, 8), size, headerBytes };
}

/** Overwrites the metadata among the boxes from here on, and in those that hold others. */
function blank(boxes: Buffer, from: number): void {
  let at = from;
  while (at + HEADER_BYTES <= boxes.length) {
    const box = readBox(boxes.subarray(at, at + LONG_HEADER_BYTES));
    if (box === null) return;
    const one = boxes.subarray(at, at + box.size);
    if (METADATA.has(box.type)) {
      one.write(PADDING, 4, 'latin1');
      one.fill(0, box.headerBytes);
    } else if (CONTAINERS.has(box.type)) blank(one, box.headerBytes);
    at += box.size;
  }
}
