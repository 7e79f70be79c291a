/**
 * Measures the duration of one file in seconds. A length in a header may be wrong: the server wrote
 * it too early, or somebody forged it. In such formats the content is measured instead. Paths have
 * no extension, because music-metadata would trust it.
 */
import { PCM } from '@inference-gateway/shared/media/types';
import { parseFile } from 'music-metadata';
import type { Measurement } from './duration.js';
import { FileWindow } from './file-window.js';
import { mp3Seconds } from './mp3-seconds.js';
import { wavSeconds } from './wav-seconds.js';

/** 24 kHz, 16 bits, mono. */
export const PCM_BYTES_PER_SECOND = 48_000;

/** No file of a gigabyte is longer. */
const MAX_SECONDS = 30 * 86_400;

type Meter = (file: FileWindow) => number | null;

/** Replaces music-metadata, which trusts the headers of WAV and MP3. */
const FIRST: ReadonlyMap<string, Meter> = new Map([
  ['audio/wav', wavSeconds],
  ['audio/mpeg', mp3Seconds],
  [PCM, pcmSeconds],
]);

const STREAMINFO_AT = 8;

const STREAMINFO_BYTES = 34;

/** Larger than a frame, except with very rare settings. */
const TAIL_BYTES = 64 * 1024;

const MAX_FRAME_HEADER_BYTES = 16;

const CRC_POLYNOMIAL = 0x07;

const BOX_HEADER_BYTES = 8;

const LONG_BOX_HEADER_BYTES = 16;

/** Far more than a file has at its top level and in `moov` together. */
const MAX_BOXES = 10_000;

const MOVIE_HEADER_BYTES = 40;

const ID = {
  start: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** Elements that may contain a time. */
const OPENED: ReadonlySet<number> = new Set([ID.segment, ID.info, ID.cluster, ID.blockGroup]);

const MAX_HEADER_BYTES = 12;

/** A track number of one or two bytes, and the time after it. */
const BLOCK_START_BYTES = 10;

const DEFAULT_SCALE_NS = 1_000_000;

/**
 * Used if music-metadata finds no duration: video without sound, and streamed files (FLAC without a
 * total, WebM from a browser's recorder).
 */
const AFTER: ReadonlyMap<string, Meter> = new Map([
  ['audio/mp4', mp4Seconds],
  ['video/mp4', mp4Seconds],
  ['audio/webm', webmSeconds],
  ['video/webm', webmSeconds],
  ['audio/flac', flacSeconds],
]);

/** Null if the duration is unknown. */
export async function measure({ path, contentType }: Measurement): Promise<number | null> {
  const first = FIRST.get(contentType);
  if (first !== undefined) return read(path, first);
  const told = await byLibrary(path);
  const after = AFTER.get(contentType);
  return told ?? (after === undefined ? null : read(path, after));
}

/** Headerless PCM. OpenAI defines its format. */
function pcmSeconds(file: FileWindow): number {
  return file.size / PCM_BYTES_PER_SECOND;
}

async function byLibrary(path: string): Promise<number | null> {
  try {
    const { format } = await parseFile(path, { duration: true, skipCovers: true });
    return sane(format.duration ?? null);
  } catch {
    // Another format than expected, or a truncated file.
    return null;
  }
}

function read(path: string, meter: Meter): number | null {
  const file = new FileWindow(path);
  try {
    return sane(meter(file));
  } finally {
    file.close();
  }
}

/** Rejects impossible values: a header may contain anything. */
function sane(seconds: number | null): number | null {
  return seconds !== null && seconds > 0 && seconds <= MAX_SECONDS ? seconds : null;
}

/** Measures FLAC by its last frame: an encoder that writes to a pipe leaves the total at 0. */
function flacSeconds(file: FileWindow): number | null {
  if (file.bytes(0, 4).toString('latin1') !== 'fLaC') return null;
  const info = Buffer.from(file.bytes(STREAMINFO_AT, STREAMINFO_BYTES));
  if (info.length < STREAMINFO_BYTES) return null;
  const sampleRate = info.readUIntBE(10, 3) >> 4;
  const blockSamples = info.readUInt16BE(0);
  const tail = file.bytes(Math.max(0, file.size - TAIL_BYTES), TAIL_BYTES);
  const samples = lastSample(tail, blockSamples);
  return samples === null || sampleRate === 0 ? null : samples / sampleRate;
}

/** The end of the last frame that starts in these bytes. */
function lastSample(tail: Buffer, blockSamples: number): number | null {
  for (let at = tail.length - 6; at >= 0; at--) {
    if (tail[at] !== 0xff || ((tail[at + 1] ?? 0) & 0xfe) !== 0xf8) continue;
    const end = frameEnd(tail.subarray(at, at + MAX_FRAME_HEADER_BYTES), blockSamples);
    if (end !== null) return end;
  }
  return null;
}

/** Null if the bytes are not a frame header. The header's last byte is a checksum. */
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

/** The number of the frame or of its first sample, encoded like a character in UTF-8. */
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

/** Measures MP4 by its movie header: music-metadata reads audio only, and many videos have none. */
function mp4Seconds(file: FileWindow): number | null {
  if (boxAt(file, 0)?.name !== 'ftyp') return null;
  for (let at = 0, boxes = 0; boxes < MAX_BOXES; boxes++) {
    const box = boxAt(file, at);
    if (box === null) return null;
    if (box.name === 'mvhd') return movieSeconds(file.bytes(at + box.header, MOVIE_HEADER_BYTES));
    at += box.name === 'moov' ? box.header : box.bytes;
  }
  return null;
}

function boxAt(
  file: FileWindow,
  at: number,
): { readonly name: string; readonly header: number; readonly bytes: number } | null {
  const start = file.bytes(at, LONG_BOX_HEADER_BYTES);
  if (start.length < BOX_HEADER_BYTES) return null;
  const name = start.toString('latin1', 4, 8);
  const short = start.readUInt32BE(0);
  // Size 1: an eight-byte size follows the name. Size 0: the box ends with the file.
  if (short !== 1) return short < BOX_HEADER_BYTES ? null : { name, header: 8, bytes: short };
  if (start.length < LONG_BOX_HEADER_BYTES) return null;
  const bytes = Number(start.readBigUInt64BE(8));
  return bytes < LONG_BOX_HEADER_BYTES ? null : { name, header: LONG_BOX_HEADER_BYTES, bytes };
}

function movieSeconds(header: Buffer): number | null {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? 32 : 20)) return null;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  const isUnknown = duration === 0xffffffff || duration >= 2 ** 63;
  return scale === 0 || isUnknown ? null : duration / scale;
}

interface Element {
  readonly id: number;
  /** Offset of its content. */
  readonly at: number;
  readonly bytes: number;
}

/** Measures WebM by the time of its last block: browser recordings have no duration header. */
function webmSeconds(file: FileWindow): number | null {
  if (elementAt(file, 0)?.id !== ID.start) return null;
  let scaleNs = DEFAULT_SCALE_NS;
  let cluster = 0;
  let last: number | null = null;
  for (let at = 0; ;) {
    const element = elementAt(file, at);
    if (element === null) break;
    const { id, bytes } = element;
    if (id === ID.timestampScale) scaleNs = unsigned(file.bytes(element.at, Math.min(bytes, 8)));
    if (id === ID.timestamp) cluster = unsigned(file.bytes(element.at, Math.min(bytes, 8)));
    if (id === ID.block || id === ID.simpleBlock) {
      last = Math.max(last ?? 0, cluster + blockTime(file.bytes(element.at, BLOCK_START_BYTES)));
    }
    at = element.at + (OPENED.has(id) ? 0 : bytes);
  }
  return last === null ? null : (last * scaleNs) / 1e9;
}

function elementAt(file: FileWindow, at: number): Element | null {
  const header = file.bytes(at, MAX_HEADER_BYTES);
  const idBytes = lengthOf(header[0]);
  const sizeBytes = lengthOf(header[idBytes]);
  if (idBytes === 0 || idBytes > 4 || sizeBytes === 0) return null;
  if (header.length < idBytes + sizeBytes) return null;
  const id = header.readUIntBE(0, idBytes);
  return {
    id,
    at: at + idBytes + sizeBytes,
    bytes: elementSize(header.subarray(idBytes), sizeBytes),
  };
}

/** Length in bytes of a variable-length integer: its leading zero bits, plus one. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23;
}

function elementSize(bytes: Buffer, length: number): number {
  const [first = 0] = bytes;
  let value = first & (0xff >> length);
  for (const byte of bytes.subarray(1, length)) value = value * 256 + byte;
  return value;
}

function unsigned(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = value * 256 + byte;
  return value;
}

function blockTime(start: Buffer): number {
  const track = lengthOf(start[0]);
  return start.length < track + 2 ? 0 : start.readInt16BE(track);
}
