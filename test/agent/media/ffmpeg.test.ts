import ffmpegBinary from '@ffmpeg-installer/ffmpeg';
import { existsSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConversionError } from '@inference-gateway/agent/media/audio-converter';
import { Ffmpeg, findFfmpeg, runFfmpeg } from '@inference-gateway/agent/media/ffmpeg';
import type { Converted, SoundTarget } from '@inference-gateway/agent/media/audio-converter';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { AUDIO_KINDS, AUDIO_SECONDS, audioFile } from '../../support/audio-files.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const ffmpeg = new Ffmpeg(ffmpegBinary.path);
const OWN_FOLDERS = `gateway-agent-media-${process.pid}-`;

async function ownFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(OWN_FOLDERS));
}

afterEach(async () => {
  expect(await ownFolders()).toEqual([]);
});

async function convert(input: Buffer, to: SoundTarget): Promise<Converted & { all: Buffer }> {
  const made = await ffmpeg.convert(inPieces(input), to, new AbortController().signal);
  const all = await whole(made);
  await made.dispose();
  return { ...made, all };
}

async function* inPieces(bytes: Buffer, size = 4_096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function whole(made: Converted): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of made.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

test.each(AUDIO_KINDS)('makes a WAV with a true header of %s', async (kind) => {
  const { all, bytes, contentType } = await convert(await audioFile(kind), 'wav');
  expect(contentType).toBe('audio/wav');
  expect(all).toHaveLength(bytes);
  expect(detectFormat(all)).toBe('wav');
  expect(all.readUInt32LE(4)).toBe(all.length - 8);
  const data = all.indexOf('data');
  expect(all.readUInt32LE(data + 4)).toBe(all.length - data - 8);
  const seconds = (all.length - data - 8) / all.readUInt32LE(28);
  expect(Math.abs(seconds - AUDIO_SECONDS)).toBeLessThan(0.1);
});

test('makes Opus in Ogg, and 16 kHz mono for whisper', async () => {
  const opus = await convert(await audioFile('mp3'), 'opus');
  expect(opus.contentType).toBe('audio/ogg');
  expect(opus.all.subarray(0, 4).toString()).toBe('OggS');
  expect(opus.all.subarray(28, 36).toString()).toBe('OpusHead');
  const { all } = await convert(opus.all, 'wav16k');
  expect([all.readUInt16LE(22), all.readUInt32LE(24)]).toEqual([1, 16_000]);
});

test('a file lies where only its owner can read it, and goes when it is disposed of', async () => {
  const input = await audioFile('m4a');
  const made = await ffmpeg.convert(inPieces(input), 'wav', new AbortController().signal);
  const [folder = ''] = await ownFolders();
  const modeOf = async (path: string) => (await stat(join(tmpdir(), folder, path))).mode & 0o777;
  expect([await modeOf('.'), await modeOf('output')]).toEqual([0o700, 0o600]);
  expect(await readdir(join(tmpdir(), folder))).toEqual(['output']);
  await made.dispose();
});

test.each([
  ['no sound', Buffer.from('<html>no</html>'), /no sound file/],
  ['nothing', Buffer.alloc(0), /no sound file/],
  ['an image', Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1'), /no sound file/],
  ['a broken file', Buffer.from('fLaC and nothing of the kind'), /could not be converted: \S/],
])('%s is refused, and no path of this machine is told', async (_what, input, message) => {
  const failure = await convert(input, 'wav').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConversionError);
  expect(failure).toMatchObject({ code: 'LOCAL_ERROR', message: expect.stringMatching(message) });
  expect((failure as Error).message).not.toMatch(/tmp|gateway-agent|0x/);
});

const hls = (target: string): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${target}\n#EXT-X-ENDLIST\n`;
const concat = (target: string): string => `ffconcat version 1.0\nfile '${target}'\n`;

test('a playlist opens neither an address nor another file', async () => {
  const folder = await temporaryFolder();
  const secret = join(folder, 'secret.wav');
  await writeFile(secret, await audioFile('wav'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.wav`;
  for (const target of [secret, `file:${secret}`, url]) {
    for (const list of [hls(target), concat(target)]) {
      // Bare, and behind the marks by which sound is known.
      for (const mark of ['', 'ID3', 'fLaC', 'OggS', '\x1a\x45\xdf\xa3', '0000ftyp', '\xff\xfb']) {
        const disguised = Buffer.concat([Buffer.from(mark, 'latin1'), Buffer.from(list)]);
        await expect(convert(disguised, 'wav')).rejects.toBeInstanceOf(ConversionError);
      }
    }
  }
  expect(asked).toEqual([]);
});

test('a file that is too large is not taken any further', async () => {
  let pulled = 0;
  const endless = (async function* () {
    yield Buffer.from('RIFF0000WAVE');
    for (;;) {
      pulled += 1024 * 1024;
      yield Buffer.alloc(1024 * 1024);
    }
  })();
  const converting = ffmpeg.convert(endless, 'wav', new AbortController().signal);
  await expect(converting).rejects.toThrow(/more than 67108864 bytes/);
  expect(pulled).toBe(64 * 1024 * 1024);
});

test('what breaks the input comes out as it is', async () => {
  const reason = new Error('the link broke');
  const broken = (async function* () {
    yield Buffer.from('RIFF0000WAVE');
    throw reason;
  })();
  const converting = ffmpeg.convert(broken, 'wav', new AbortController().signal);
  await expect(converting).rejects.toBe(reason);
});

test('a caller who leaves stops it', async () => {
  const folder = await temporaryFolder();
  const slow = join(folder, 'slow');
  const began = join(folder, 'began');
  await writeFile(slow, `#!/bin/sh\ntouch ${began}\nexec sleep 60\n`, { mode: 0o755 });
  const leaving = new AbortController();
  const input = inPieces(await audioFile('wav'));
  const outcome = new Ffmpeg(slow)
    .convert(input, 'wav', leaving.signal)
    .catch((error: unknown) => error);
  await until(() => existsSync(began));
  const at = performance.now();
  leaving.abort('canceled');
  expect(await outcome).toBe('canceled');
  expect(performance.now() - at).toBeLessThan(1_000);
});

test('a sound that grows beyond all measure is not passed on', async () => {
  const bomb = join(await temporaryFolder(), 'bomb');
  await writeFile(bomb, '#!/bin/sh\nexec truncate -s 1073741824 output\n', { mode: 0o755 });
  const input = inPieces(await audioFile('wav'));
  const converting = new Ffmpeg(bomb).convert(input, 'wav', new AbortController().signal);
  await expect(converting).rejects.toThrow(/it makes more than 1073741824 bytes/);
});

test('a conversion that takes too long is stopped, and is no fault of the sound', async () => {
  const folder = await temporaryFolder();
  const slow = join(folder, 'slow');
  await writeFile(slow, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
  const { signal } = new AbortController();
  const failure = await runFfmpeg({ path: slow, args: [], folder, limitMs: 50, signal }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringMatching(/took too long/) as string,
  });
  expect(failure).not.toBeInstanceOf(ConversionError);
});

test('a program that cannot be started is a failure without its path', async () => {
  const gone = new Ffmpeg('/nowhere/at/all/ffmpeg');
  const input = inPieces(await audioFile('wav'));
  const converting = gone.convert(input, 'wav', new AbortController().signal);
  await expect(converting).rejects.toThrow(/^ffmpeg could not be started \(ENOENT\)\./);
});

test('it is found where the owner says, and nowhere else', async () => {
  expect((await findFfmpeg(ffmpegBinary.path))?.path).toBe(ffmpegBinary.path);
  expect(await findFfmpeg('/nowhere/ffmpeg')).toBeNull();
  expect(await findFfmpeg('no-such-program-anywhere')).toBeNull();
});

test('a build without libopus is found out, promises no Opus and makes WAV', async () => {
  expect((await findFfmpeg(ffmpegBinary.path))?.makesOpus).toBe(true);
  const poor = join(await temporaryFolder(), 'poor');
  const script = `case "$*" in *-encoders*) echo ' A..... pcm_s16le'; exit;; esac`;
  await writeFile(poor, `#!/bin/sh\n${script}\nexec '${ffmpegBinary.path}' "$@"\n`, {
    mode: 0o755,
  });
  const found = await findFfmpeg(poor);
  if (found === null) throw new Error('it was not found');
  expect(found.makesOpus).toBe(false);
  const { signal } = new AbortController();
  const input = await audioFile('wav');
  const failure = await found.convert(inPieces(input), 'opus', signal).catch((e: unknown) => e);
  expect(failure).toMatchObject({ code: 'LOCAL_ERROR', message: expect.stringMatching(/libopus/) });
  expect(failure).not.toBeInstanceOf(ConversionError);
  await (await found.convert(inPieces(input), 'wav', signal)).dispose();
});

test('a full disk is the failure of the machine, and a broken sound is not', async () => {
  const full = join(await temporaryFolder(), 'full');
  const script = 'rm output; ln -s /dev/full output';
  await writeFile(full, `#!/bin/sh\n${script}\nexec '${ffmpegBinary.path}' "$@"\n`, {
    mode: 0o755,
  });
  const { signal } = new AbortController();
  const input = inPieces(await audioFile('wav'));
  const failure = await new Ffmpeg(full).convert(input, 'wav', signal).catch((e: unknown) => e);
  expect(failure).toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringMatching(/No space/),
  });
  expect(failure).not.toBeInstanceOf(ConversionError);
});
