/**
 * Sound from one format to another, by the ffmpeg of the owner's machine. The files come from
 * strangers: ffmpeg is told which format to read, so that a playlist in disguise cannot make it
 * open addresses or other files.
 */
import { execFile } from 'node:child_process';
import { resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import { LocalFailure } from '../backends/backend.js';
import {
  CONVERT_TIMEOUT_MS,
  ConversionError,
  INPUT,
  MAX_OUTPUT_BYTES,
  OUTPUT,
  convertInFolder,
} from './audio-converter.js';
import type { AudioConverter, Converted, SoundTarget } from './audio-converter.js';
import type { Complaint } from './ffmpeg-complaint.js';
import { runFfmpeg } from './ffmpeg-process.js';
import { sweepScratchFolders } from './scratch-folder.js';

const FIND_TIMEOUT_MS = 5_000;
/** Null where it is not installed: `configured`, or else what PATH finds, does not run. */
export async function findFfmpeg(configured?: string | null): Promise<Ffmpeg | null> {
  await sweepScratchFolders();
  const named = configured ?? 'ffmpeg';
  const path = named.includes(sep) || named.includes('/') ? resolve(named) : named;
  const told = await answer(path, '-version').catch(() => null);
  if (told === null) return null;
  const encoders = await answer(path, '-encoders').catch(() => '');
  const version = /^ffmpeg version (\S+)/.exec(told)?.[1] ?? null;
  return new Ffmpeg(path, { makesOpus: OPUS_ENCODER.test(encoders), version });
}

const OPUS_ENCODER = /\blibopus\b/;

async function answer(path: string, question: string): Promise<string> {
  const limits = { timeout: FIND_TIMEOUT_MS, windowsHide: true };
  return (await promisify(execFile)(path, ['-hide_banner', question], limits)).stdout;
}

interface FfmpegBuild {
  readonly makesOpus?: boolean;
  readonly version?: string | null;
}

export class Ffmpeg implements AudioConverter {
  readonly path: string;
  readonly makesOpus: boolean;
  /** Null where it does not tell. */
  readonly version: string | null;

  constructor(path: string, { makesOpus = true, version = null }: FfmpegBuild = {}) {
    this.path = path;
    this.makesOpus = makesOpus;
    this.version = version;
  }

  async convert(
    input: AsyncIterable<Uint8Array>,
    to: SoundTarget,
    signal: AbortSignal,
  ): Promise<Converted> {
    if (to === 'opus' && !this.makesOpus) throw new LocalFailure('LOCAL_ERROR', NO_OPUS);
    return convertInFolder({ input, to, signal }, async ({ folder, format }) => {
      const args = [...readArgs(format), ...TARGETS[to], ...WRITE_ARGS];
      const run = { path: this.path, args, folder, limitMs: CONVERT_TIMEOUT_MS, signal };
      const complaint = await runFfmpeg(run);
      if (complaint !== null) throw failureOf(complaint);
    });
  }
}

/** What ffmpeg calls the formats that carry sound. */
const DEMUXERS: Partial<Record<MediaFormat, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  aac: 'aac',
  flac: 'flac',
  ogg: 'ogg',
  mp4: 'mov',
  webm: 'matroska',
};

const TARGETS = {
  wav: ['-c:a', 'pcm_s16le', '-f', 'wav'],
  opus: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'ogg'],
  wav16k: ['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le', '-f', 'wav'],
} as const satisfies Record<SoundTarget, readonly string[]>;

const NO_OPUS =
  'ffmpeg was built without libopus, and makes no Opus. Install a build that has libopus.';

function failureOf({ about, text }: Complaint): LocalFailure {
  if (about === 'input') return new ConversionError(text);
  return new LocalFailure(
    'LOCAL_ERROR',
    `ffmpeg failed: ${text}. See whether it runs on its machine.`,
  );
}

const QUIET = '-nostdin -hide_banner -loglevel error -y';
/** Without pictures, and without what the file says of itself. */
const FIRST_SOUND = '-map 0:a:0 -map_metadata -1 -bitexact';
/** No file grows beyond what anybody takes. */
const WRITE_ARGS = ['-fs', String(MAX_OUTPUT_BYTES), `file:${OUTPUT}`];

function readArgs(format: MediaFormat | null): string[] {
  const demuxer = format === null ? undefined : DEMUXERS[format];
  if (demuxer === undefined) throw new ConversionError('it is no sound file');
  const only = `-protocol_whitelist file -format_whitelist ${demuxer} -f ${demuxer}`;
  return `${QUIET} ${only} -i file:${INPUT} ${FIRST_SOUND}`.split(' ');
}
