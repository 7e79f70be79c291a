/** A speech backend with ffmpeg and a stand-in server, and what both received. */
import ffmpegBinary from '@ffmpeg-installer/ffmpeg';
import type {
  Backend,
  Description,
  LocalAnswer,
  LocalCall,
  ServiceConfig,
} from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { Ffmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { drain, localCall } from '../../support/local-call.js';
import type { DrainedFile } from '../../support/local-call.js';
import type { RecordingServer } from '../../support/recording-server.js';

export interface SpeechStage {
  readonly backend: Backend;
  readonly describe: () => Promise<Description>;
}

interface Changes extends Partial<ServiceConfig> {
  readonly hasFfmpeg?: boolean;
}

export function inFrontOf(
  server: RecordingServer,
  backendName: string,
  { hasFfmpeg = true, ...changes }: Changes = {},
): SpeechStage {
  onTestFinished(() => server.close());
  const service = { backend: backendName, type: 'tts', ...changes } as const;
  const ffmpeg = hasFfmpeg ? new Ffmpeg(ffmpegBinary.path) : null;
  const backend = createBackend(configuredServer(`${server.origin}/v1`, service), { ffmpeg });
  return { backend, describe: () => backend.describe(AbortSignal.timeout(2_000)) };
}

/** For the model of this name, with these voices if given. */
export function speech(
  servedName: string,
  body: Record<string, unknown> = {},
  voices?: readonly string[],
): LocalCall {
  const call = localCall({ endpoint: 'speech', body: { input: 'Grüße', ...body }, servedName });
  return voices === undefined ? call : { ...call, model: { ...call.model, voices: [...voices] } };
}

export async function onlyFile(answer: LocalAnswer): Promise<DrainedFile> {
  const [file, ...others] = await drain(answer);
  if (file === undefined || others.length > 0) throw new Error('not one file');
  return file;
}

/** What the header of a WAV says of its sound's length, against what there is of it. */
export function saidAndThere(wav: Buffer): { said: number; there: number } {
  const at = wav.indexOf('data');
  return { said: wav.readUInt32LE(at + 4), there: wav.length - at - 8 };
}
