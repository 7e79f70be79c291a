/** One tone in every audio format that callers upload; a real ffmpeg makes each once. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFile, toneSource } from './sound.js';

export const AUDIO_SECONDS = 2.5;

const KINDS = {
  wav: { type: 'audio/wav', args: ['-f', 'wav'] },
  mp3: { type: 'audio/mpeg', args: ['-f', 'mp3'] },
  m4a: { type: 'audio/mp4', args: ['-f', 'ipod'] },
  flac: { type: 'audio/flac', args: ['-f', 'flac'] },
  ogg: { type: 'audio/ogg', args: ['-c:a', 'libvorbis', '-f', 'ogg'] },
  opus: { type: 'audio/ogg', args: ['-c:a', 'libopus', '-f', 'opus'] },
  webm: { type: 'audio/webm', args: ['-c:a', 'libopus', '-f', 'webm'] },
} as const;

export type AudioKind = keyof typeof KINDS;

export const AUDIO_KINDS = Object.keys(KINDS) as AudioKind[];

const made = new Map<AudioKind, Promise<Buffer<ArrayBuffer>>>();

export function audioFile(kind: AudioKind): Promise<Buffer<ArrayBuffer>> {
  const known = made.get(kind) ?? make(kind);
  made.set(kind, known);
  return known;
}

/** The detected type. */
export function audioType(kind: AudioKind): string {
  return KINDS[kind].type;
}

async function make(kind: AudioKind): Promise<Buffer<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-audio-'));
  try {
    const path = join(folder, 'tone');
    await encodeFile(path, [...toneSource(AUDIO_SECONDS), ...KINDS[kind].args]);
    return Buffer.from(await readFile(path));
  } finally {
    await rm(folder, { recursive: true });
  }
}
