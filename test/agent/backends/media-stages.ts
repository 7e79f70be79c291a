/** The common set-up of each media backend and its local server. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Backend, LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import type { Looks } from '../../support/fake-behaviours.js';
import { localCall, upload } from '../../support/local-call.js';
import { unsizedWav } from '../../support/local-servers/spoken.js';
import { picture } from '../../support/pictures.js';
import { send } from '../../support/recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../../support/recording-server.js';
import { tone } from '../../support/sound.js';

export interface Stage {
  readonly server: RecordingServer;
  readonly backend: Backend;
  /** A request that it serves; the file of one that has files. */
  readonly call: (changes?: Partial<LocalCall>) => LocalCall;
  /** Answers requests so, from now on. */
  readonly behave: (handler: Handler) => void;
  /** Works on the next request for so long, unless it is stopped, and looks who listens. */
  readonly work: (ms: number, looks: Looks) => CardWork;
}

/** What a card does for one request. */
export interface CardWork {
  readonly hasBegun: () => boolean;
  readonly hasEnded: () => boolean;
  /** The calls that told it to stop, in order. */
  readonly stops: () => readonly string[];
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
  /** The path of the request. */
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
    work: (ms, looks) => {
      const works: Work[] = [];
      behave((request, response) => compute(works, { ms, looks, request, response }));
      return {
        hasBegun: () => works.length === 1,
        hasEnded: () => works[0]?.ended === true,
        stops: () => [],
      };
    },
  };
}

interface Work {
  ended: boolean;
}

interface Ordered {
  readonly ms: number;
  readonly looks: Looks;
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
}

/** What is streamed is sent as it is made; the rest would be answered at the end. */
async function compute(works: Work[], { ms, looks, request, response }: Ordered): Promise<void> {
  const isStreamed = request.body.includes('"stream":true');
  const isWatched = looks === 'always' || (looks === 'streams' && isStreamed);
  const work: Work = { ended: false };
  works.push(work);
  const end = performance.now() + ms;
  if (isStreamed) response.writeHead(200, { 'content-type': 'audio/wav' }).write(unsizedWav(0));
  const isNoticed = (): boolean => isWatched && response.destroyed;
  while (performance.now() < end && !isNoticed()) {
    await pause(PIECE_MS);
    if (isStreamed && !response.destroyed) response.write(Buffer.alloc(PIECE_BYTES));
  }
  work.ended = true;
  if (isStreamed) response.end();
  else if (!response.destroyed) send(response, 500, { error: 'nobody is to hear of this' });
}

const PIECE_MS = 20;
const PIECE_BYTES = 960;
