/** A file that is there whole, as one that comes little by little: nobody takes it at once. */

const PIECE_BYTES = 64 * 1024;

export async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
