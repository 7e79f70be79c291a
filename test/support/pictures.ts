/** Images made here and ffmpeg's output, independent of the gateway's code. */
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { deflateSync, crc32 } from 'node:zlib';

/** Runs ffmpeg and returns its output; throws its error message. */
export async function runFfmpeg(args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn(ffmpeg.path, ['-hide_banner', '-loglevel', 'error', ...args, 'pipe:1']);
  child.stdin.on('error', () => undefined).end(input);
  const [out, told, code] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    new Promise<number | null>((done) => child.on('close', done)),
  ]);
  if (code !== 0) throw new Error(`ffmpeg ${args.join(' ')}: ${told.toString()}`);
  return out;
}

/** A PNG of 16 by 16 pixels with the prompt and a path written into it, as image servers do. */
export function picture({ seed = 0 }: { seed?: number } = {}): Buffer {
  return png([
    chunk('IHDR', Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 8, 0, 0, 0, 0])),
    chunk('tEXt', Buffer.from('parameters\0a cat, Model: secret-model, /home/somebody/models')),
    chunk('IDAT', deflateSync(Buffer.alloc(17 * 16, Buffer.from([0, ...shades(seed)])))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Makes a PNG of framed chunks. */
export function png(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function shades(seed: number): number[] {
  return Array.from({ length: 16 }, (_, i) => (seed * 40 + i * 3) % 256);
}
