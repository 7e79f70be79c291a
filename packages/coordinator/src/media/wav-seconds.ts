import {
  CHUNK_HEADER_BYTES,
  RIFF_HEADER_BYTES,
  chunkAt,
  chunkEnd,
  isWav,
  soundBytes,
} from '@inference-gateway/shared/media/wav-header';
import type { FileWindow } from './file-window.js';

/** Far more than any encoder writes. */
const MAX_CHUNKS = 1_000;
const FORMAT_BYTES = 16;
/** Size of a format chunk for formats whose samples come in blocks. */
const BLOCK_FORMAT_BYTES = 20;
const PCM = 0x0001;
const FLOAT = 0x0003;
const EXTENSIBLE = 0xfffe;
/** Microsoft ADPCM, IMA ADPCM, and GSM. */
const IN_BLOCKS: ReadonlySet<number> = new Set([0x0002, 0x0011, 0x0031]);

/** An impossible data length is read as "to the end of the file". */
export function wavSeconds(file: FileWindow): number | null {
  if (!isWav(file.bytes(0, RIFF_HEADER_BYTES))) return null;
  let rate: number | null = null;
  for (let at = RIFF_HEADER_BYTES, chunks = 0; chunks < MAX_CHUNKS; chunks++) {
    const header = file.bytes(at, CHUNK_HEADER_BYTES);
    if (header.length < CHUNK_HEADER_BYTES) return null;
    const chunk = chunkAt(header, 0);
    const from = at + CHUNK_HEADER_BYTES;
    if (chunk.name === 'fmt ') rate = bytesPerSecond(file.bytes(from, BLOCK_FORMAT_BYTES));
    if (chunk.name === 'data') {
      return rate === null ? null : soundBytes(chunk.bytes, file.size - from) / rate;
    }
    at = chunkEnd(at, chunk);
  }
  return null;
}

/** Computed from the sample format if possible, else the encoder's value. */
function bytesPerSecond(format: Buffer): number | null {
  if (format.length < FORMAT_BYTES) return null;
  const kind = format.readUInt16LE(0);
  const sampleRate = format.readUInt32LE(4);
  let rate = format.readUInt32LE(8);
  if (kind === PCM || kind === FLOAT || kind === EXTENSIBLE) {
    rate = sampleRate * Math.ceil(format.readUInt16LE(14) / 8) * format.readUInt16LE(2);
  } else if (IN_BLOCKS.has(kind) && format.length === BLOCK_FORMAT_BYTES) {
    rate = (sampleRate * format.readUInt16LE(12)) / format.readUInt16LE(18);
  }
  return rate > 0 ? rate : null;
}
