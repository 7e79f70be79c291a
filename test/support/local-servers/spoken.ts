/** Answers of speech servers: one second of a tone, in their format and with their header. */
import type { ServerResponse } from 'node:http';
import { audioFile } from '../audio-files.js';
import type { AudioKind } from '../audio-files.js';
import { tone } from '../sound.js';

export const SPOKEN_SECONDS = 1;

/** A WAV with correct lengths. */
export function speak(response: ServerResponse, contentType = 'audio/wav'): void {
  response.writeHead(200, { 'content-type': contentType }).end(tone(SPOKEN_SECONDS));
}

const KINDS: Readonly<Record<string, AudioKind>> = {
  mp3: 'mp3',
  opus: 'opus',
  flac: 'flac',
};

/** Other formats come from ffmpeg and are 2.5 seconds long. */
export async function speakAs(
  response: ServerResponse,
  format: string,
  { contentType, wav = tone(SPOKEN_SECONDS) }: { contentType: string; wav?: Buffer },
): Promise<void> {
  const kind = KINDS[format];
  const sound = kind === undefined ? wav : await audioFile(kind);
  response.writeHead(200, { 'content-type': contentType }).end(sound);
}

const HEADER_BYTES = 44;
const UNKNOWN = 0xffff_ffff;

/** As ffmpeg writes it to a pipe: with its own name, and lengths with all bits set. */
export function unsizedWav(seconds: number): Buffer {
  const whole = tone(seconds);
  const info = Buffer.from('INFOISFT\x0e\0\0\0Lavf61.7.100\0\0', 'latin1');
  const list = Buffer.concat([Buffer.from('LIST'), uint32(info.length), info]);
  const start = Buffer.from(whole.subarray(0, HEADER_BYTES - 8));
  start.writeUInt32LE(UNKNOWN, 4);
  const data = Buffer.concat([Buffer.from('data'), uint32(UNKNOWN)]);
  return Buffer.concat([start, list, data, whole.subarray(HEADER_BYTES)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
