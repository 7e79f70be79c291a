/**
 * Measures MP3 by its frames. The total in the Xing header is wrong if a server joined several
 * files, and the file size says nothing if the bit rate varies.
 */
import type { FileWindow } from './file-window.js';

const FRAME_HEADER_BYTES = 4;
const ID3_HEADER_BYTES = 10;
/** Layers III and II, in kbit/s. Tables of ISO 11172-3 and 13818-3. */
const BITRATES = {
  v1l3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  v1l2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  v2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;
/** Indexed by the two version bits: MPEG 2.5, reserved, 2, 1. */
const RATE_DIVISORS = [4, 0, 2, 1] as const;
const LAYER_3 = 1;
const LAYER_2 = 2;
const MPEG_1 = 3;

/** One or two frame headers often appear in noise by chance; this many in a row do not. */
const FRAMES_IN_A_ROW = 3;

/** Longest noise between two stretches of sound. */
const MAX_NOISE_BYTES = 64 * 1024;

interface Frame {
  /** Equal in all frames of one file: version, layer and sample rate. */
  readonly kind: number;
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRate: number;
}

export function mp3Seconds(file: FileWindow): number | null {
  let seconds = 0;
  let kind: number | null = null;
  let noiseBytes = 0;
  for (let at = 0; at + FRAME_HEADER_BYTES <= file.size;) {
    const frame = frameAt(file, at);
    const isSound = frame !== null && (frame.kind === kind || beginsSound(file, at));
    if (!isSound) {
      kind = null;
      const tag = tagBytes(file, at);
      noiseBytes = tag === null ? noiseBytes + 1 : 0;
      // Searching a large file of noise byte by byte would delay all other files.
      if (noiseBytes > MAX_NOISE_BYTES) return seconds;
      at += tag ?? 1;
      continue;
    }
    noiseBytes = 0;
    kind = frame.kind;
    if (!isIndex(file, at)) seconds += frame.samples / frame.sampleRate;
    at += frame.bytes;
  }
  return seconds;
}

/** The rate of the first frame at the start of a file; null if there is no frame. */
export function mp3BytesPerSecond(start: Buffer): number | null {
  const from = tagEnd(start.subarray(0, ID3_HEADER_BYTES)) ?? 0;
  const frame = readFrame(start.subarray(from, from + FRAME_HEADER_BYTES));
  return frame === null ? null : (frame.bytes * frame.sampleRate) / frame.samples;
}

function beginsSound(file: FileWindow, from: number): boolean {
  let previous: Frame | null = null;
  for (let at = from, frames = 0; frames < FRAMES_IN_A_ROW; frames++) {
    const isEnd = at === file.size || tagBytes(file, at) !== null;
    if (isEnd) return frames > 0;
    const frame = frameAt(file, at);
    if (frame === null || (previous !== null && frame.kind !== previous.kind)) return false;
    at += frame.bytes;
    previous = frame;
  }
  return true;
}

function frameAt(file: FileWindow, at: number): Frame | null {
  return readFrame(file.bytes(at, FRAME_HEADER_BYTES));
}

function readFrame(header: Buffer): Frame | null {
  const [first = 0, second = 0, third = 0] = header;
  if (header.length < FRAME_HEADER_BYTES || first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const divisor = RATE_DIVISORS[version] ?? 0;
  const sampleRate = (SAMPLE_RATES[(third >> 2) & 3] ?? 0) / (divisor || Infinity);
  const bitrate = (bitratesOf(version, layer)[third >> 4] ?? 0) * 1000;
  if (sampleRate === 0 || bitrate === 0) return null;
  const samples = layer === LAYER_3 && version !== MPEG_1 ? 576 : 1152;
  const padding = (third >> 1) & 1;
  const bytes = Math.floor(((samples / 8) * bitrate) / sampleRate) + padding;
  const kind = ((second & 0xfe) << 8) | (third & 0x0c);
  return { kind, bytes, samples, sampleRate };
}

function bitratesOf(version: number, layer: number): readonly number[] {
  if (layer !== LAYER_3 && layer !== LAYER_2) return [];
  if (version !== MPEG_1) return BITRATES.v2;
  return layer === LAYER_3 ? BITRATES.v1l3 : BITRATES.v1l2;
}

/** In many files the first frame holds an index of the file and no sound. */
function isIndex(file: FileWindow, at: number): boolean {
  const start = file.bytes(at, 64).toString('latin1');
  return /^.{4,36}(Xing|Info|VBRI)/s.test(start);
}

/** ID3v2 tags are before the sound, also in joined files. ID3v1 and APE tags are at its end. */
function tagBytes(file: FileWindow, at: number): number | null {
  return tagEnd(file.bytes(at, ID3_HEADER_BYTES));
}

function tagEnd(header: Buffer): number | null {
  const name = header.toString('latin1', 0, 3);
  if (name === 'TAG') return 128;
  if (header.toString('latin1', 0, 8) === 'APETAGEX') return 32;
  if (name !== 'ID3' || header.length < ID3_HEADER_BYTES) return null;
  const [a = 0, b = 0, c = 0, d = 0] = header.subarray(6);
  return (
    ID3_HEADER_BYTES + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f))
  );
}
