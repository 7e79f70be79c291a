/** Sounds and films for tests, made by hand or by a real ffmpeg. */
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const MAX_BYTES = 64 * 1024 * 1024;

export function toneSource(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=24000:duration=${seconds}`];
}

export function filmSource(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc=duration=${seconds}:size=64x64:rate=25`];
}

/** ffmpeg writes the file itself: it can go back and fill in its header. */
export async function encodeFile(path: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(ffmpeg.path, ['-v', 'error', '-y', ...args, path]);
}

/** As a server does that sends while it makes: nothing can be filled in. */
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

/** A WAV of silence: 16 bits, mono. What its header says of its length can be chosen. */
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
