/**
 * A home machine for speech, images, films and music: a fake local server with a model for each,
 * and a real agent.
 */
import type { ConfiguredModel, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { AudioConverter } from '@inference-gateway/agent/media/audio-converter';
import type { ServerResponse } from 'node:http';
import { startFakeOpenAi } from './fake-openai-server.js';
import { sendJson } from './fake-model-server.js';
import type { Behaviour, FakeModelServer, FakeRequest } from './fake-model-server.js';
import type { TestAgent, TestGateway } from './gateway.js';
import { picture } from './pictures.js';
import { tone } from './sound.js';

/** The model of each type. */
export const MODELS = { tts: 'kokoro', image: 'sd', video: 'wan', music: 'ace' } as const;

/** Additional image models, with names that some callers treat specially. */
const GPT_IMAGES = ['gpt-image-1', 'my-gpt-image-1'];

export const SPEECH = tone(0.5);
export const SONG = tone(1.25);
/** Only the parts of a film that the gateway looks at. */
export const FILM = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0'), Buffer.alloc(5_000)]);

export interface Studio {
  readonly fake: FakeModelServer;
  readonly agent: TestAgent;
}

interface StudioOptions {
  readonly name?: string;
  readonly owner?: TestGateway['anna'];
  readonly types?: readonly (keyof typeof MODELS)[];
  readonly slots?: number;
  readonly voices?: readonly string[];
  readonly ffmpeg?: AudioConverter | null;
}

/** Stopping the gateway stops the agent; the test closes the fake server. */
export async function startStudio(
  gateway: TestGateway,
  options: StudioOptions = {},
): Promise<Studio> {
  const { name, owner, slots = 4, voices, ffmpeg } = options;
  const types = options.types ?? (Object.keys(MODELS) as (keyof typeof MODELS)[]);
  const routes = voices === undefined ? {} : { '/v1/audio/voices': { voices } };
  const fake = await startFakeOpenAi({ behaviour: make, routes, models: [] });
  const services = types.map((type) => serviceOf(fake, type, slots));
  const agent = await gateway.startAgent({
    services,
    ...(name !== undefined && { name }),
    ...(owner !== undefined && { owner }),
    ...(ffmpeg !== undefined && { ffmpeg }),
  });
  return { fake, agent };
}

/** Answers each path as a correct server does. */
export const make: Behaviour = (request, response) => {
  if (request.path.endsWith('/speech')) return sendFile('audio/wav', SPEECH)(request, response);
  if (request.path.endsWith('/music/generations')) {
    return sendFile('audio/wav', SONG)(request, response);
  }
  if (request.path.endsWith('/videos/generations')) {
    return sendFile('video/mp4', FILM)(request, response);
  }
  return sendImages(imagesOf(request))(request, response);
};

/** Sends these bytes with this content type, even if it is wrong. */
export function sendFile(contentType: string, bytes: Uint8Array | string): Behaviour {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(bytes);
  };
}

/** Sends these bytes and cuts the connection, as a crashed server does. */
export function dieAfter(bytes: Uint8Array): Behaviour {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': 1_000_000 });
    response.write(bytes, () => response.destroy());
    response.flushHeaders();
  };
}

export function sendImages(
  images: readonly (Buffer | { readonly image: Buffer; readonly revisedPrompt: string })[],
): Behaviour {
  return (_request: FakeRequest, response: ServerResponse) => {
    const data = images.map((one) =>
      Buffer.isBuffer(one)
        ? { b64_json: one.toString('base64') }
        : { b64_json: one.image.toString('base64'), revised_prompt: one.revisedPrompt },
    );
    sendJson(response, 200, { created: 1_700_000_000, data });
  };
}

/** As many images as the request asks for, all different. */
function imagesOf({ body }: FakeRequest): Buffer[] {
  return Array.from({ length: Number(body['n'] ?? 1) }, (_, seed) => picture({ seed }));
}

function serviceOf(
  fake: FakeModelServer,
  type: keyof typeof MODELS,
  slots: number,
): Partial<ServiceConfig> {
  const models = [MODELS[type], ...(type === 'image' ? GPT_IMAGES : [])].map(toModel);
  return { id: `${type}-0`, type, baseUrl: fake.baseUrl, slots, models };
}

function toModel(id: string): ConfiguredModel {
  return {
    id,
    servedName: id,
    contextLength: null,
    inputModalities: null,
    supportedFeatures: null,
  };
}
