/**
 * The seconds of one file. Where a format says its length only in a header that a server may have
 * written before it knew, or that anybody can write, the bytes themselves are asked. Paths have no
 * ending: music-metadata would believe it.
 */
import { PCM } from '@inference-gateway/shared/media/types';
import { parseFile } from 'music-metadata';
import type { Measurement } from './duration.js';
import { FileWindow } from './file-window.js';
import { flacSeconds } from './flac-seconds.js';
import { mp3Seconds } from './mp3-seconds.js';
import { mp4Seconds } from './mp4-seconds.js';
import { wavSeconds } from './wav-seconds.js';
import { webmSeconds } from './webm-seconds.js';

/** 24 kHz, 16 bits, mono. */
export const PCM_BYTES_PER_SECOND = 48_000;

/** No file of a gigabyte lasts longer. */
const MAX_SECONDS = 30 * 86_400;

type Meter = (file: FileWindow) => number | null;

/** Instead of music-metadata, which believes the header of a WAV and of an MP3. */
const FIRST: ReadonlyMap<string, Meter> = new Map([
  ['audio/wav', wavSeconds],
  ['audio/mpeg', mp3Seconds],
  [PCM, pcmSeconds],
]);

/**
 * Where music-metadata knows nothing: films without sound, and what was streamed (FLAC without a
 * total, WebM from a browser's recorder).
 */
const AFTER: ReadonlyMap<string, Meter> = new Map([
  ['audio/mp4', mp4Seconds],
  ['video/mp4', mp4Seconds],
  ['audio/webm', webmSeconds],
  ['video/webm', webmSeconds],
  ['audio/flac', flacSeconds],
]);

/** Null where it cannot be told. */
export async function measure({ path, contentType }: Measurement): Promise<number | null> {
  const first = FIRST.get(contentType);
  if (first !== undefined) return read(path, first);
  const told = await byLibrary(path);
  const after = AFTER.get(contentType);
  return told ?? (after === undefined ? null : read(path, after));
}

/** Nothing in the file tells: bare samples are what OpenAI says that they are. */
function pcmSeconds(file: FileWindow): number {
  return file.size / PCM_BYTES_PER_SECOND;
}

async function byLibrary(path: string): Promise<number | null> {
  try {
    const { format } = await parseFile(path, { duration: true, skipCovers: true });
    return sane(format.duration ?? null);
  } catch {
    // Not what it seemed to be, or cut off.
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

/** A header may say anything. */
function sane(seconds: number | null): number | null {
  return seconds !== null && seconds > 0 && seconds <= MAX_SECONDS ? seconds : null;
}
