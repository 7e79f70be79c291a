/** The backends of image servers. */
import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { startFakeWebUi } from '../../support/fake-automatic1111.js';
import type { FakeWebUi } from '../../support/fake-automatic1111.js';
import { localCall } from '../../support/local-call.js';
import { FILM_GRAPH, SONG_GRAPH } from '../../support/local-servers/comfyui-graphs.js';
import { COMFY_CHECKPOINTS, startFakeComfyUi } from '../../support/local-servers/comfyui.js';
import type { FakeComfyUi } from '../../support/local-servers/comfyui.js';
import { SD_MODEL, startFakeSdServer } from '../../support/local-servers/sd-server.js';
import { BEARER, imageEdit, stage } from './media-stages.js';
import type { CardWork, MediaKind } from './media-stages.js';

const BASIC = { apiKey: 'me:secret', authorization: `Basic ${btoa('me:secret')}` };

export const IMAGE_KINDS: readonly MediaKind[] = [
  {
    name: 'automatic1111',
    backend: 'automatic1111',
    type: 'image',
    endpoint: 'images',
    foreign: 'speech',
    path: '/sdapi/v1/txt2img',
    ...BASIC,
    start: webUi(() => localCall({ endpoint: 'images', body: { prompt: 'a', n: 1 } })),
  },
  {
    name: 'automatic1111, edits',
    backend: 'automatic1111',
    type: 'image',
    endpoint: 'edits',
    foreign: 'transcriptions',
    path: '/sdapi/v1/img2img',
    ...BASIC,
    start: webUi(imageEdit),
  },
  {
    name: 'comfyui',
    backend: 'comfyui',
    type: 'image',
    endpoint: 'images',
    foreign: 'speech',
    path: '/prompt',
    ...BEARER,
    start: comfyUi('image', () => generation(CHECKPOINT)),
  },
  {
    name: 'comfyui, edits',
    backend: 'comfyui',
    type: 'image',
    endpoint: 'edits',
    foreign: 'transcriptions',
    path: '/upload/image',
    ...BEARER,
    start: comfyUi('image', () => {
      const { model, ...call } = imageEdit();
      return { ...call, model: { ...model, served_name: CHECKPOINT } };
    }),
  },
  {
    name: 'comfyui, video',
    backend: 'comfyui',
    type: 'video',
    endpoint: 'videos',
    foreign: 'images',
    path: '/prompt',
    ...BEARER,
    start: comfyUi('video', () => localCall({ endpoint: 'videos', body: { prompt: 'a' } })),
  },
  {
    name: 'comfyui, music',
    backend: 'comfyui',
    type: 'music',
    endpoint: 'music',
    foreign: 'speech',
    path: '/prompt',
    ...BEARER,
    start: comfyUi('music', () => localCall({ endpoint: 'music', body: { prompt: 'a' } })),
  },
  {
    name: 'sd-server',
    backend: 'sd-server',
    type: 'image',
    endpoint: 'images',
    foreign: 'speech',
    path: '/v1/images/generations',
    ...BEARER,
    start: sdServer(() => generation(SD_MODEL)),
  },
  {
    name: 'sd-server, edits',
    backend: 'sd-server',
    type: 'image',
    endpoint: 'edits',
    foreign: 'transcriptions',
    path: '/v1/images/edits',
    ...BEARER,
    start: sdServer(imageEdit),
  },
];

function generation(servedName: string): LocalCall {
  return localCall({ endpoint: 'images', body: { prompt: 'a', n: 1 }, servedName });
}

function webUi(ask: () => LocalCall): MediaKind['start'] {
  return async (changes) => {
    const fake = await startFakeWebUi();
    const { server } = fake;
    const set = stage({
      server,
      service: { backend: 'automatic1111', type: 'image', baseUrl: server.origin, ...changes },
      ask,
      behave: (handler) => void (fake.behaviour = handler),
    });
    return { ...set, work: (ms) => interruptible(fake, ms) };
  };
}

/** One job at a time, which only its own call interrupts. */
function interruptible(fake: FakeWebUi | FakeComfyUi, ms: number): CardWork {
  fake.jobMs = ms;
  return {
    hasBegun: () => fake.running !== null,
    hasEnded: () => fake.jobs.length === 1 && fake.running === null,
    stops: () => {
      const calls = fake.server.requests.filter(({ method }) => method === 'POST');
      return calls.map(({ path }) => path).filter((path) => STOPS.has(path));
    },
  };
}

const STOPS = new Set(['/sdapi/v1/interrupt', '/interrupt', '/queue']);

const [CHECKPOINT = ''] = COMFY_CHECKPOINTS;

/** Checkpoints for images, as there are without workflows, and else one workflow. */
function comfyUi(type: 'image' | 'video' | 'music', ask: () => LocalCall): MediaKind['start'] {
  return async (changes) => {
    const fake = await startFakeComfyUi();
    const { server } = fake;
    const graph = { image: null, video: FILM_GRAPH, music: SONG_GRAPH }[type];
    const workflows = graph === null ? [] : [{ id: 'tiny', graph }];
    const set = stage({
      server,
      service: { backend: 'comfyui', type, baseUrl: server.origin, workflows, ...changes },
      ask,
      behave: (handler) => void (fake.behaviour = handler),
    });
    return { ...set, work: (ms) => interruptible(fake, ms) };
  };
}

/** Of before it had jobs: it computes on, and its slot is taken until it has ended. */
function sdServer(ask: () => LocalCall): MediaKind['start'] {
  return async (changes) => {
    const fake = await startFakeSdServer();
    fake.hasJobs = false;
    const { server } = fake;
    const set = stage({
      server,
      service: { backend: 'sd-server', type: 'image', baseUrl: `${server.origin}/v1`, ...changes },
      ask,
      behave: (handler) => void (fake.behaviour = handler),
    });
    return {
      ...set,
      work: (ms) => {
        fake.computesMs = ms;
        return {
          hasBegun: () => server.requests.some(({ method }) => method === 'POST'),
          hasEnded: () => fake.computed === 1,
          stops: () => [],
        };
      },
    };
  };
}
