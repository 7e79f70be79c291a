/** A fake whisper-server with its backend, and requests for it. */
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { AudioConverter } from '@inference-gateway/agent/media/audio-converter';
import { WhisperServerBackend } from '@inference-gateway/agent/backends/whisper-server/backend';
import { converterOf } from '@inference-gateway/agent/media/built-in-converter';
import { Ffmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { startFakeWhisper } from '../../../support/fake-whisper-server.js';
import type { FakeWhisperOptions } from '../../../support/fake-whisper-server.js';
import { localCall, upload } from '../../../support/local-call.js';
import { tone } from '../../../support/sound.js';

interface Options extends FakeWhisperOptions {
  readonly changes?: Partial<ServiceConfig>;
  readonly ffmpeg?: AudioConverter | null;
  /** Behind the origin. */
  readonly path?: string;
}

export const converter = new Ffmpeg(ffmpeg.path);

export async function startWhisper({
  changes,
  ffmpeg: tool = null,
  path = '',
  ...options
}: Options = {}) {
  const fake = await startFakeWhisper(options);
  onTestFinished(() => fake.server.close());
  const service = { backend: 'whisper-server', type: 'stt', ...changes } as const;
  const configured = configuredServer(fake.server.origin + path, service);
  return { fake, backend: new WhisperServerBackend(configured, converterOf(tool)) };
}

export function transcription(
  body: Record<string, unknown> = {},
  sound: [type: string, bytes: Buffer] = ['audio/wav', tone(0.2)],
  signal?: AbortSignal,
): LocalCall {
  const uploads = [upload('file', ...sound)];
  const call = localCall({ endpoint: 'transcriptions', id: 'whisper', body, uploads });
  return signal === undefined ? call : { ...call, signal };
}
