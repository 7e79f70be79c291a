/** FLAC by its last frame: an encoder that writes to a pipe leaves the total at zero. */
import type { FileWindow } from './file-window.js';

const STREAMINFO_AT = 8;
const STREAMINFO_BYTES = 34;
/** A frame is smaller, but for the rarest of settings. */
const TAIL_BYTES = 64 * 1024;
const MAX_FRAME_HEADER_BYTES = 16;
const CRC_POLYNOMIAL = 0x07;

export function flacSeconds(file: FileWindow): number | null {
  if (file.bytes(0, 4).toString('latin1') !== 'fLaC') return null;
  const info = Buffer.from(file.bytes(STREAMINFO_AT, STREAMINFO_BYTES));
  if (info.length < STREAMINFO_BYTES) return null;
  const sampleRate = info.readUIntBE(10, 3) >> 4;
  const blockSamples = info.readUInt16BE(0);
  const tail = file.bytes(Math.max(0, file.size - TAIL_BYTES), TAIL_BYTES);
  const samples = lastSample(tail, blockSamples);
  return samples === null || sampleRate === 0 ? null : samples / sampleRate;
}

/** The end of the last frame that begins in these bytes. */
function lastSample(tail: Buffer, blockSamples: number): number | null {
  for (let at = tail.length - 6; at >= 0; at--) {
    if (tail[at] !== 0xff || ((tail[at + 1] ?? 0) & 0xfe) !== 0xf8) continue;
    const end = frameEnd(tail.subarray(at, at + MAX_FRAME_HEADER_BYTES), blockSamples);
    if (end !== null) return end;
  }
  return null;
}

/** Null where the bytes are no frame's header after all: its last byte is a checksum. */
function frameEnd(header: Buffer, blockSamples: number): number | null {
  const number = codedNumber(header);
  if (number === null) return null;
  const hasVariableBlocks = ((header[1] ?? 0) & 1) === 1;
  const sizeCode = (header[2] ?? 0) >> 4;
  const rateCode = (header[2] ?? 0) & 0x0f;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const crcAt = 4 + number.bytes + sizeBytes + rateBytes;
  if (crcAt >= header.length || crc8(header.subarray(0, crcAt)) !== header[crcAt]) return null;
  const own = sizeBytes > 0 ? header.readUIntBE(4 + number.bytes, sizeBytes) + 1 : sizeOf(sizeCode);
  return (hasVariableBlocks ? number.value : number.value * blockSamples) + own;
}

/** The number of the frame, or of its first sample, coded like a character in UTF-8. */
function codedNumber(header: Buffer): { readonly value: number; readonly bytes: number } | null {
  const first = header[4] ?? 0;
  const ones = Math.clz32(~(first << 24));
  if (ones === 0) return { value: first, bytes: 1 };
  if (ones === 1 || ones > 7 || header.length < 4 + ones) return null;
  let value = first & (0x7f >> ones);
  for (const byte of header.subarray(5, 4 + ones)) value = value * 64 + (byte & 0x3f);
  return { value, bytes: ones };
}

function sizeOf(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 * 2 ** (code - 2) : 256 * 2 ** (code - 8);
}

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = ((crc << 1) ^ (crc & 0x80 ? CRC_POLYNOMIAL : 0)) & 0xff;
    }
  }
  return crc;
}
