/** Base64 of bytes that come in pieces: no file is held whole for it. */

/** Three bytes are four characters; the last ones are filled up. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

export async function* toBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, whole));
    rest = bytes.subarray(whole);
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'));
}
