/** Looks at the beginning of a body without losing it. */
import type { ByteSource } from './stream-events.js';

export interface Peeked {
  /** The first character that is not white space, or an empty string where there is none. */
  readonly first: string;
  /** The whole body, from its first byte. */
  readonly body: ByteSource;
}

/** White space beyond this is no beginning that anybody waits for. */
const MAX_BLANK_BYTES = 64 * 1024;

export async function peek(source: ByteSource): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let first = '';
  let blankBytes = 0;
  while (first === '' && blankBytes < MAX_BLANK_BYTES) {
    const read = await iterator.next();
    if (read.done === true) break;
    seen.push(read.value);
    first = firstCharacter(read.value);
    blankBytes += read.value.length;
  }
  return { first, body: { [Symbol.asyncIterator]: rest, finished: () => source.finished() } };

  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      yield* seen;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
}

/** Nothing that tells the forms apart is outside ASCII; a byte order mark is skipped. */
function firstCharacter(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024))
    .toString('latin1')
    .replace(/^[\s\u00bb\u00bf\u00ef]+/, '')
    .charAt(0);
}
