/** A machine without ffmpeg, whose whisper.cpp reads four formats; callers send all six. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AUDIO_KINDS, AUDIO_SECONDS, audioFile } from '../support/audio-files.js';
import { startFakeWhisper } from '../support/fake-whisper-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { encodeFile, heard, toneSource } from '../support/sound.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { failureOf } from './requests.js';

async function startHome() {
  const gateway = await startGateway();
  const fake = await startFakeWhisper();
  const service = { id: 'stt-0', type: 'stt', backend: 'whisper-server' } as const;
  await gateway.startAgent({
    services: [{ ...service, baseUrl: fake.server.origin }],
    ffmpeg: null,
  });
  return { gateway, fake };
}

function transcribe(gateway: TestGateway, file: Buffer<ArrayBuffer>): Promise<Response> {
  const body = new FormData();
  body.append('model', 'whisper');
  body.append('file', new Blob([file]), 'sound');
  return gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body });
}

it('transcribes audio in wav, mp3, flac, ogg or webm', async () => {
  const { gateway, fake } = await startHome();
  for (const kind of AUDIO_KINDS.filter((one) => one !== 'm4a')) {
    const response = await transcribe(gateway, await audioFile(kind));
    const told = { text: 'large round could', language: 'en' };
    expect([kind, await response.json()]).toMatchObject([kind, told]);
    const { file, fileType } = fake.lastCall;
    if (fileType !== 'audio/wav' || file === null) continue;
    const sound = heard(file);
    expect(Math.abs(sound.seconds - AUDIO_SECONDS)).toBeLessThan(0.1);
    expect(Math.abs(sound.hertz - 440)).toBeLessThan(2);
  }
  await fake.server.close();
});

it('refuses what nothing there decodes, and is no failure of the machine', async () => {
  const { gateway, fake } = await startHome();
  const path = join(await temporaryFolder(), 'sound');
  await encodeFile(path, [...toneSource(0.5), '-c:a', 'alac', '-f', 'ipod']);
  const lossless = Buffer.from(await readFile(path));
  for (let i = 0; i < 6; i++) {
    expect(await failureOf(await transcribe(gateway, lossless))).toMatchObject({
      status: 415,
      type: 'unsupported_media_type',
      code: 'unsupported_file_type',
      param: 'file',
      message: expect.stringContaining('Send wav, mp3, flac, ogg or webm'),
    });
  }
  expect(fake.calls).toEqual([]);
  expect((await transcribe(gateway, await audioFile('opus'))).status).toBe(200);
  await fake.server.close();
});
