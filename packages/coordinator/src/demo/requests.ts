/** Requests that the demo's members submit. Every machine with the model can answer them. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ModelId } from './models.js';
import type { Random } from './random.js';
import { CHATS, PICTURES, SPOKEN, TUNES } from './topics.js';

export interface DemoRequest {
  readonly endpoint: EndpointKey;
  readonly model: ModelId;
  /** Without the model. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The kinds that can be jobs. */
export type RequestKind = 'chat' | 'image' | 'speech' | 'music';

/** Shared with all members. */
const CHAT_MODELS: readonly [ModelId, ...ModelId[]] = [
  'llama-3.1-8b-instruct',
  'qwen2.5-coder-32b-instruct',
  'gemma-3-12b-it',
  'llama-3.3-70b-instruct',
  'deepseek-r1-distill-qwen-32b',
];
const TUNE_S = 10;

export function requestFor(kind: RequestKind, random: Random): DemoRequest {
  switch (kind) {
    case 'chat':
      return chatOf(random.pick(CHAT_MODELS), random);
    case 'image':
      return imageOf(random.pick(PICTURES));
    case 'speech': {
      const body = { input: random.pick(SPOKEN), voice: 'af_heart' };
      return { endpoint: 'speech', model: 'kokoro-82m', body };
    }
    case 'music': {
      const body = { prompt: random.pick(TUNES), audio_duration: TUNE_S };
      return { endpoint: 'music', model: 'ace-step-v1-3.5b', body };
    }
  }
}

export function chatOf(model: ModelId, random: Random): DemoRequest {
  const messages = [{ role: 'user', content: random.pick(CHATS).question }];
  return { endpoint: 'chat', model, body: { messages } };
}

export function imageOf(prompt: string, size = '512x512'): DemoRequest {
  return { endpoint: 'images', model: 'flux.1-schnell', body: { prompt, size } };
}
