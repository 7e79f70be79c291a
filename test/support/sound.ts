/** Sounds and films for tests, made by a real ffmpeg. */
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

/** A WAV of silence: 16 bits, mono. What its header says of its length can be chosen. */
export function silentWav(
  seconds: number,
  said: { readonly riffBytes?: number; readonly dataBytes?: number } = {},
): Buffer {
  const sampleRate = 8_000;
  const dataBytes = seconds * sampleRate * 2;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(said.riffBytes ?? dataBytes + 36, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(said.dataBytes ?? dataBytes, 40);
  return Buffer.concat([header, Buffer.alloc(dataBytes)]);
}
