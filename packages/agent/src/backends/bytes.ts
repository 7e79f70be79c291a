/** Reads a body whole, or in pieces. */
import { LocalFailure } from './backend.js';

/** Throws a `LocalFailure` if the body is longer than `limitBytes`. */
export async function readWhole(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of limited(body, limitBytes)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Throws a `LocalFailure` where the body becomes longer than `limitBytes`. */
export async function* limited(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > limitBytes) {
      throw new LocalFailure('LOCAL_ERROR', `there are more than ${limitBytes} bytes of it.`);
    }
    yield piece;
  }
}

const PIECE_BYTES = 64 * 1024;

/** A whole file in small pieces: no reader takes it at once. */
export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Pieces that exist already. */
export async function* asStream(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
