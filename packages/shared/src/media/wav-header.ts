/** Reads and corrects the header of a WAV file. Pure. */

/** Longer than the chunks that encoders write before the samples. */
export const WAV_HEADER_BYTES = 8 * 1024;

export const RIFF_HEADER_BYTES = 12;
export const CHUNK_HEADER_BYTES = 8;
const RIFF_SIZE_AT = 4;
const CHUNK_SIZE_AT = 4;

/** Longer than any stored file: such a length means that it is unknown. */
const LEAST_IMPOSSIBLE = 1024 ** 3 + 1;

export interface Chunk {
  readonly name: string;
  /** The length in the header. */
  readonly bytes: number;
}

/**
 * The first bytes with the lengths of a file of `totalBytes`, or null if there is nothing to
 * correct: no WAV, or plausible lengths. A streaming server writes 0 or the largest number.
 */
export function mendWavHeader(start: Uint8Array, totalBytes: number): Uint8Array | null {
  if (!isWav(start)) return null;
  const soundAt = findSound(start);
  if (soundAt === null) return null;
  const view = viewOf(start);
  const said = view.getUint32(soundAt + CHUNK_SIZE_AT, true);
  const bytes = soundBytes(said, totalBytes - soundAt - CHUNK_HEADER_BYTES);
  const riffBytes = view.getUint32(RIFF_SIZE_AT, true);
  if (bytes === said && riffBytes !== 0 && riffBytes + CHUNK_HEADER_BYTES <= totalBytes)
    return null;
  const mended = Uint8Array.from(start);
  viewOf(mended).setUint32(RIFF_SIZE_AT, totalBytes - CHUNK_HEADER_BYTES, true);
  viewOf(mended).setUint32(soundAt + CHUNK_SIZE_AT, bytes, true);
  return mended;
}

/**
 * True if the length was unknown when the first bytes were written, or is not in these bytes.
 */
export function hasPlaceholderLength(start: Uint8Array): boolean {
  if (!isWav(start)) return false;
  const soundAt = findSound(start);
  return (
    soundAt === null || isPlaceholder(chunkAt(start, 0)) || isPlaceholder(chunkAt(start, soundAt))
  );
}

function isPlaceholder({ bytes }: Chunk): boolean {
  return bytes === 0 || bytes >= LEAST_IMPOSSIBLE;
}

/** Length of the samples: `said` in the header, at most `left`. */
export function soundBytes(said: number, left: number): number {
  return said === 0 || said > left ? left : said;
}

export function isWav(start: Uint8Array): boolean {
  if (start.length < RIFF_HEADER_BYTES) return false;
  return nameAt(start, 0) === 'RIFF' && nameAt(start, 8) === 'WAVE';
}

/** The header of the chunk at this position, which must be within the bytes. */
export function chunkAt(bytes: Uint8Array, at: number): Chunk {
  return { name: nameAt(bytes, at), bytes: viewOf(bytes).getUint32(at + CHUNK_SIZE_AT, true) };
}

/** Chunks begin at even positions. */
export function chunkEnd(at: number, { bytes }: Chunk): number {
  return at + CHUNK_HEADER_BYTES + bytes + (bytes % 2);
}

function findSound(start: Uint8Array): number | null {
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= start.length;) {
    const chunk = chunkAt(start, at);
    if (chunk.name === 'data') return at;
    at = chunkEnd(at, chunk);
  }
  return null;
}

function nameAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
