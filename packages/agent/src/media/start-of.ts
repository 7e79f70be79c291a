/** The first bytes of something that can be read only once, and all of it from its first byte. */

export interface Started {
  /** So many bytes, or fewer where there are no more. */
  readonly start: Buffer;
  /** The whole, from its first byte. */
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
