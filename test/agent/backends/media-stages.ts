/** Each backend that serves media before the local server that it speaks to: what they share. */
import type { Backend, LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { localCall, upload } from '../../support/local-call.js';
import { picture } from '../../support/pictures.js';
import type { Handler, RecordingServer } from '../../support/recording-server.js';
import { tone } from '../../support/sound.js';

export interface Stage {
  readonly server: RecordingServer;
  readonly backend: Backend;
  /** A request that it serves; the file of one that has files. */
  readonly call: (changes?: Partial<LocalCall>) => LocalCall;
  /** Answers requests so, from now on. */
  readonly behave: (handler: Handler) => void;
  /** Works on the next request for ever, as far as its callers let it. */
  readonly hang: () => void;
  /** Whether it has stopped to work, or at least is asked for nothing any more. */
  readonly stopped: () => boolean;
}

export interface MediaKind {
  readonly name: string;
  readonly backend: string;
  readonly type: ServiceConfig['type'];
  readonly endpoint: EndpointKey;
  /** An endpoint of another service type. */
  readonly foreign: EndpointKey;
  /** The owner's key for it, and the header that shows it. */
  readonly apiKey: string;
  readonly authorization: string;
  /** The path of what it is asked for. */
  readonly path: string;
  /** False: its transcripts do not say how long the sound was. */
  readonly tellsDuration?: false;
  start(changes?: Partial<ServiceConfig>): Promise<Stage>;
}

export const BEARER = { apiKey: 'sk-local', authorization: 'Bearer sk-local' };

const AUDIO = tone(0.5);

/** The model as the server itself calls it; one that does not care needs none. */
export function transcription(servedName?: string): LocalCall {
  return localCall({
    endpoint: 'transcriptions',
    uploads: [upload('file', 'audio/wav', AUDIO)],
    ...(servedName !== undefined && { servedName }),
  });
}

export function imageEdit(): LocalCall {
  const uploads = [upload('image', 'image/png', picture())];
  return localCall({ endpoint: 'edits', body: { prompt: 'a', n: 1 }, uploads });
}

interface Set {
  readonly server: RecordingServer;
  readonly service: Partial<ServiceConfig> & { readonly baseUrl: string };
  readonly ask: () => LocalCall;
  readonly behave: (handler: Handler) => void;
}

/** Without ffmpeg. The server is closed with the test. */
export function stage({ server, service, ask, behave }: Set): Stage {
  onTestFinished(() => server.close());
  return {
    server,
    backend: createBackend(configuredServer(service.baseUrl, service), { ffmpeg: null }),
    call: (changes) => ({ ...ask(), ...changes }),
    behave,
    hang: () => behave(hangs),
    stopped: () => server.aborts.length === 1,
  };
}

const hangs: Handler = () => undefined;
