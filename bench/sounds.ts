/**
 * The built-in converter for sounds, used without ffmpeg: how many seconds of sound it converts in
 * one second of CPU time, regardless of other load on the machine. The machine's ffmpeg makes them.
 */
import { BuiltInConverter } from '@inference-gateway/agent/media/built-in-converter';
import type { SoundTarget } from '@inference-gateway/agent/media/audio-converter';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchOptions } from './options.js';
import { Samples } from './samples.js';
import { formatNumber, table } from './table.js';

const SECONDS = 300;
const QUICK_SECONDS = 30;
const ROUNDS = 3;

interface Way {
  readonly name: string;
  /** What ffmpeg makes the sound with. */
  readonly args: readonly string[];
  readonly to: SoundTarget;
}

const WAYS: readonly Way[] = [
  { name: 'WAV of 24 kHz to Opus', args: ['-ar', '24000', '-f', 'wav'], to: 'opus' },
  { name: 'WAV of 22.05 kHz to Opus', args: ['-ar', '22050', '-f', 'wav'], to: 'opus' },
  { name: 'Ogg Opus to 16 kHz', args: ['-c:a', 'libopus', '-f', 'ogg'], to: 'wav16k' },
  { name: 'WebM Opus to 16 kHz', args: ['-c:a', 'libopus', '-f', 'webm'], to: 'wav16k' },
  { name: 'MP3 to WAV', args: ['-f', 'mp3'], to: 'wav' },
];

export async function sounds({ quick, say }: BenchOptions): Promise<Samples> {
  const samples = new Samples(WAYS.map(({ name }) => name));
  const seconds = quick ? QUICK_SECONDS : SECONDS;
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
  try {
    for (const [i, way] of WAYS.entries()) {
      say(way.name);
      const path = join(folder, String(i));
      const source = `anoisesrc=color=pink:amplitude=0.3:sample_rate=44100:duration=${seconds}`;
      await promisify(execFile)('ffmpeg', ['-f', 'lavfi', '-i', source, ...way.args, path]);
      const sound = await readFile(path);
      for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
        samples.add(way.name, 'speed', seconds / (await usedSeconds(sound, way.to)));
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return samples;
}

export function report(samples: Samples): string {
  const rows = samples.subjects.map((name) => [
    name,
    formatNumber(samples.median(name, 'speed'), 0),
  ]);
  return table(['Sound', 's of sound a CPU second'], rows);
}

/** Of all threads of this process, the start of the conversion's own among them. */
async function usedSeconds(sound: Buffer, to: SoundTarget): Promise<number> {
  const before = process.cpuUsage();
  const input = (async function* () {
    yield sound;
  })();
  const made = await new BuiltInConverter().convert(input, to, new AbortController().signal);
  await made.dispose();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}
