/** Sounds and films for tests, made here or by a real ffmpeg. */
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MAX_BYTES = 64 * 1024 * 1024;

export function toneSource(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=24000:duration=${seconds}`];
}

export function filmSource(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc=duration=${seconds}:size=64x64:rate=25`];
}

/** ffmpeg writes the file itself, so it can go back and complete the header. */
export async function encodeFile(path: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(ffmpeg.path, ['-v', 'error', '-y', ...args, path]);
}

/** As a server that sends while it encodes: the header cannot be completed later. */
export async function encodeStreamed(
  path: string,
  args: readonly string[],
  format: string,
): Promise<void> {
  const options = { encoding: 'buffer', maxBuffer: MAX_BYTES } as const;
  const all = ['-v', 'error', ...args, '-f', format, '-'];
  const { stdout } = await promisify(execFile)(ffmpeg.path, all, options);
  await writeFile(path, stdout);
}

const HEADER_BYTES = 44;
const TONE_RATE = 16_000;
const SILENCE_RATE = 8_000;

/** A WAV of a tone: 16 bits, mono, 16 kHz. */
export function tone(seconds: number): Buffer {
  const samples = Buffer.alloc(Math.round(seconds * TONE_RATE) * 2);
  for (let i = 0; i < samples.length / 2; i++) {
    samples.writeInt16LE(Math.round(8_000 * Math.sin(i / 10)), i * 2);
  }
  return wav(samples, TONE_RATE);
}

interface SaidLengths {
  readonly riffBytes?: number;
  readonly dataBytes?: number;
}

/** A WAV of silence: 16 bits, mono. `said` sets the lengths in its header. */
export function silentWav(seconds: number, said: SaidLengths = {}): Buffer {
  return wav(Buffer.alloc(seconds * SILENCE_RATE * 2), SILENCE_RATE, said);
}

function wav(samples: Buffer, rate: number, said: SaidLengths = {}): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(said.riffBytes ?? samples.length + HEADER_BYTES - 8, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(said.dataBytes ?? samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** Decodes any sound to a WAV of 16 bits with a real ffmpeg. */
export async function decoded(sound: Buffer): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sound-'));
  try {
    await writeFile(join(folder, 'sound'), sound);
    await encodeFile(join(folder, 'wav'), ['-i', join(folder, 'sound'), '-f', 'wav']);
    return await readFile(join(folder, 'wav'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads a WAV of 16 bits: its facts, its samples by channel, and a tone's pitch. */
export function heard(bytes: Buffer) {
  const data = bytes.indexOf('data');
  const channels = bytes.readUInt16LE(22);
  const sampleRate = bytes.readUInt32LE(24);
  const frames = bytes.readUInt32LE(data + 4) / (2 * channels);
  const samples = Array.from({ length: channels }, (_, channel) =>
    Float32Array.from({ length: frames }, (_sample, i) =>
      bytes.readInt16LE(data + 8 + (i * channels + channel) * 2),
    ),
  );
  const [first = new Float32Array(0)] = samples;
  // Only the middle half, because codecs fade in and out.
  const middle = first.subarray(frames / 4, (frames * 3) / 4);
  const seconds = frames / sampleRate;
  const hertz = (crossings(middle) / 2 / (middle.length || 1)) * sampleRate;
  return { channels, sampleRate, seconds, samples, hertz, loudness: loudness(middle) };
}

function crossings(samples: Float32Array): number {
  let count = 0;
  for (let i = 1; i < samples.length; i++) {
    if ((samples[i - 1] ?? 0) < 0 !== (samples[i] ?? 0) < 0) count += 1;
  }
  return count;
}

/** The root mean square; 1 is full scale. */
function loudness(samples: Float32Array): number {
  const sum = samples.reduce((total, sample) => total + (sample / 0x8000) ** 2, 0);
  return Math.sqrt(sum / Math.max(1, samples.length));
}
