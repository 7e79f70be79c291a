/** Which sounds whisper.cpp's server is handed, and what becomes of the others. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ffmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { expect, test } from 'vitest';
import { errorOf } from '../../../support/local-call.js';
import { runFfmpeg } from '../../../support/pictures.js';
import { tone } from '../../../support/sound.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { converter, startWhisper as start, transcription } from './whisper.js';

const encoded = (...format: string[]) => runFfmpeg(['-i', 'pipe:0', ...format], tone(0.3));
const OPUS = ['-c:a', 'libopus', '-f', 'ogg'];
const VORBIS = ['-c:a', 'libvorbis', '-f', 'ogg'];
const WEBM = ['-c:a', 'libopus', '-f', 'webm'];
const M4A = ['-c:a', 'aac', '-f', 'mp4', '-movflags', 'frag_keyframe+empty_moov'];

test.each([
  ['audio/mp4', M4A, 'ffmpeg'],
  ['audio/webm', WEBM, 'ffmpeg'],
  ['audio/ogg', OPUS, 'ffmpeg'],
  ['audio/webm', WEBM, null],
  ['audio/ogg', OPUS, null],
] as const)('%s of %j is converted with %s', async (type, format, tool) => {
  const { fake, backend } = await start({ ffmpeg: tool && converter });
  const sound = await encoded(...format);
  expect(await backend.call(transcription({}, [type, sound]))).toMatchObject({ status: 200 });
  expect(fake.lastCall.fileType).toBe('audio/wav');
  const wav = fake.lastCall.file ?? Buffer.alloc(0);
  expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  expect(wav.readUInt32LE(24)).toBe(16_000);
  expect(wav.readUInt16LE(22)).toBe(1);
});

test.each([converter, null])('what is broken is refused before it is sent', async (ffmpeg) => {
  const { fake, backend } = await start({ ffmpeg });
  const broken = (await encoded(...WEBM)).subarray(0, 60);
  const answer = await backend.call(transcription({}, ['audio/webm', broken]));
  expect(answer).toMatchObject({ status: 400 });
  expect(errorOf(answer)).toMatchObject({ param: 'file', code: 'provider_rejected' });
  expect(errorOf(answer)).toMatchObject({ message: expect.not.stringContaining('..') });
  expect(fake.calls).toEqual([]);
});

test('what is wrong with the machine is no fault of the sound, and is not refused', async () => {
  const full = join(await temporaryFolder(), 'ffmpeg');
  const complaint = 'file:output: No space left on device';
  await writeFile(full, `#!/bin/sh\necho '${complaint}' >&2\nexit 1\n`, { mode: 0o755 });
  const { backend } = await start({ ffmpeg: new Ffmpeg(full) });
  const call = backend.call(transcription({}, ['audio/mp4', await encoded(...M4A)]));
  await expect(call).rejects.toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringMatching(/^ffmpeg failed: file:output: No space left on device\. See/),
  });
});

test.each([
  ['audio/wav', []],
  ['audio/mpeg', ['-f', 'mp3']],
  ['audio/flac', ['-f', 'flac']],
  ['audio/ogg', VORBIS],
])('%s goes as it is', async (type, format) => {
  const { fake, backend } = await start({ ffmpeg: converter });
  const sound = format.length === 0 ? tone(0.3) : await encoded(...format);
  expect(await backend.call(transcription({}, [type, sound]))).toMatchObject({ status: 200 });
  expect(fake.lastCall.file?.equals(sound)).toBe(true);
});

test('what nothing here decodes is 415 before the server is asked', async () => {
  const { fake, backend } = await start();
  const sound = await encoded('-c:a', 'alac', '-f', 'mov', '-movflags', 'frag_keyframe+empty_moov');
  const answer = await backend.call(transcription({}, ['audio/mp4', sound]));
  expect(answer).toMatchObject({ status: 415 });
  expect(errorOf(answer)).toMatchObject({
    param: 'file',
    code: 'unsupported_file_type',
    message: expect.stringMatching(/mp4.*Send wav, mp3, flac, ogg or webm; m4a needs ffmpeg/i),
  });
  expect(fake.calls).toEqual([]);
});
