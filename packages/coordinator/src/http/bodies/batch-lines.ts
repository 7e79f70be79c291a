/** The lines of a JSONL file of requests: from bytes to checked requests. */
import { ApiError } from '@inference-gateway/shared/errors';
import { JsonScan, MAX_SMALL_BYTES, MAX_SMALL_VALUES } from '@inference-gateway/shared/json/scan';
import type { RequestLimits } from '@inference-gateway/shared/openai/requests';
import { judgeLine, parseJson } from './judge-body.js';
import type { JudgedLine } from './judge-body.js';
import type { LargeBodies } from './large-bodies.js';
import { takingTurns } from './map-in-turns.js';

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface Line {
  /** From 1, blank lines included. */
  readonly number: number;
  readonly bytes: Buffer;
  /** The place after it, in bytes from the first piece. */
  readonly end: number;
}

/** The lines that are not blank. Throws an `ApiError` for a line with more than `maxBytes`. */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let number = 1;
  let end = 0;
  for await (const given of pieces) {
    const piece = Buffer.from(given.buffer, given.byteOffset, given.length);
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      const bytes = Buffer.concat([...held, piece.subarray(from, at)]);
      refuseLong(number, bytes.length, maxBytes);
      end += bytes.length + 1;
      if (!isBlank(bytes)) yield { number, bytes, end };
      number += 1;
      [held, heldBytes, from] = [[], 0, at + 1];
    }
    held.push(piece.subarray(from));
    heldBytes += piece.length - from;
    refuseLong(number, heldBytes, maxBytes);
  }
  const bytes = Buffer.concat(held);
  if (!isBlank(bytes)) yield { number, bytes, end: end + bytes.length };
}

function refuseLong(number: number, bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  const message = `In line ${number}: it has more than ${maxBytes} bytes. Send a smaller request.`;
  throw new ApiError('invalid_item', message, { param: `line ${number}` });
}

const BLANK = new Set([0x20, 0x09, 0x0d]);

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => BLANK.has(byte));
}

export interface BatchLinesParts {
  readonly limits: RequestLimits;
  /** The thread for large lines. */
  readonly large: LargeBodies;
}

/** Checks lines one after the other. Other work has its turn in between. */
export class BatchLines {
  readonly #parts: BatchLinesParts;
  readonly #turn = takingTurns();

  constructor(parts: BatchLinesParts) {
    this.#parts = parts;
  }

  /** Throws an `ApiError` if the form of the line is wrong. */
  async judge(line: Buffer, memberId: string): Promise<JudgedLine> {
    await this.#turn();
    const { limits, large } = this.#parts;
    const bytes = line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
    const scan = new JsonScan();
    const fault = scan.add(bytes) ?? scan.end();
    if (fault !== null) throw new ApiError('invalid_json', `It is refused: ${fault}. Send less.`);
    if (bytes.length > MAX_SMALL_BYTES || scan.count > MAX_SMALL_VALUES) {
      return large.judgeLine(Buffer.from(bytes), memberId, { kind: 'line', limits });
    }
    return judgeLine(parseJson(bytes), limits);
  }
}
