/** The first bytes of a stream that can be read only once, and the whole stream. */

export interface Started {
  /** This many bytes, or fewer if the stream is shorter. */
  readonly start: Buffer;
  /** The whole stream, from its first byte. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export async function startOf(source: AsyncIterable<Uint8Array>, count: number): Promise<Started> {
  const pieces = source[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  while (held.length < count) {
    const next = await pieces.next();
    if (next.done === true) break;
    held = Buffer.concat([held, next.value]);
  }
  return { start: held.subarray(0, count), bytes: whole(held, pieces) };
}

async function* whole(held: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (held.length > 0) yield held;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
