/** A body that is needed whole. */
import { LocalFailure } from './backend.js';

/** Throws a `LocalFailure` where there is more than `limitBytes` of it. */
export async function readWhole(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > limitBytes) {
      throw new LocalFailure('LOCAL_ERROR', `there are more than ${limitBytes} bytes of it.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
