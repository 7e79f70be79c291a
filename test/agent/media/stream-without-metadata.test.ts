import { streamWithoutMetadata } from '@inference-gateway/agent/media/stream-without-metadata';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { runFfmpeg } from '../../support/pictures.js';
import { encodeFile, filmSource, toneSource } from '../../support/sound.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SECRET = 'secret-workflow';
const TAGS = ['comment', 'prompt', 'title'].flatMap((tag) => ['-metadata', `${tag}=${SECRET}`]);

const FILES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['film.mp4', [...filmSource(1), ...TAGS, '-movflags', 'use_metadata_tags']],
  ['start.mp4', [...filmSource(1), ...TAGS, '-movflags', 'use_metadata_tags+faststart']],
  ['pieces.mp4', [...filmSource(1), ...TAGS, '-movflags', 'frag_keyframe+empty_moov']],
  ['track.mp4', [...filmSource(1), '-metadata:s:v', `title=${SECRET}`]],
  ['song.flac', [...toneSource(1), ...TAGS]],
  ['song.mp3', [...toneSource(1), ...TAGS, '-write_id3v1', '0']],
];

describe.each(FILES)('%s', (name, args) => {
  test.each([1, 7, 1_000, 1_000_000])(
    'loses its tags, and nothing that is seen or heard, in pieces of %i bytes',
    async (size) => {
      const file = await encoded(name, args);
      const clean = await cleaned(file, size);
      if (name !== 'track.mp4') expect(file.includes(SECRET)).toBe(true);
      expect(clean.includes(SECRET)).toBe(false);
      expect(await decoded(clean)).toEqual(await decoded(file));
    },
  );

  test('that breaks off anywhere ends there', async () => {
    const file = await encoded(name, args);
    for (const end of [5, 13, 40, 100, Math.floor(file.length / 2)]) {
      const clean = await cleaned(file.subarray(0, end), 16);
      expect(clean.length).toBeLessThanOrEqual(end);
    }
  });
});

test('other formats stay as they are', () => {
  const bytes = inPieces(Buffer.from('x'), 1);
  expect(streamWithoutMetadata(bytes, 'webm')).toBe(bytes);
});

test('a reader who stops lets go of the source', async () => {
  let isOpen = true;
  async function* source() {
    try {
      yield Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1');
      for (;;) yield Buffer.alloc(100);
    } finally {
      isOpen = false;
    }
  }
  for await (const _piece of streamWithoutMetadata(source(), 'mp3')) break;
  expect(isOpen).toBe(false);
});

async function encoded(name: string, args: readonly string[]): Promise<Buffer> {
  const path = join(await temporaryFolder(), name);
  await encodeFile(path, args);
  return readFile(path);
}

function cleaned(file: Buffer, size: number): Promise<Buffer> {
  const format = detectFormat(file) ?? 'wav';
  return buffer(streamWithoutMetadata(inPieces(file, size), format));
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A checksum of each picture and sound, in time. */
async function decoded(file: Buffer): Promise<readonly string[]> {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, file);
  const told = (await runFfmpeg(['-i', path, '-f', 'framemd5'])).toString();
  const frames = told.split('\n').filter((line) => /^\d/.test(line));
  expect(frames.length).toBeGreaterThan(5);
  return frames;
}
