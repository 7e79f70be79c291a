/** The demo's models, and the services that the agent offers them as. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JsonObject } from '../openai-wire/json.js';
import { DemoRefusal } from './reply.js';

/** `service_type` tells readers of the list which models are not chat models. */
const DEMO_MODELS = {
  'demo-chat': { service_type: 'llm', context_length: 8_192, supported_features: ['tools'] },
  'demo-reasoner': {
    service_type: 'llm',
    context_length: 8_192,
    supported_features: ['reasoning'],
  },
  'demo-whisper': { service_type: 'stt', context_length: null, supported_features: ['timestamps'] },
  'demo-voice': { service_type: 'tts', context_length: null, supported_features: [] },
  'demo-painter': { service_type: 'image', context_length: null, supported_features: [] },
} as const satisfies Record<string, { readonly service_type: ServiceType } & JsonObject>;

type DemoType = (typeof DEMO_MODELS)[keyof typeof DEMO_MODELS]['service_type'];

interface DemoServiceEntry {
  readonly id: string;
  readonly type: DemoType;
  /** Listed by name: the server has a single list for all types. */
  readonly models: readonly string[];
}

export const DEMO_SERVICES: readonly DemoServiceEntry[] = [
  { id: 'demo', type: 'llm', models: namesOf('llm') },
  { id: 'demo-stt', type: 'stt', models: namesOf('stt') },
  { id: 'demo-tts', type: 'tts', models: namesOf('tts') },
  { id: 'demo-image', type: 'image', models: namesOf('image') },
];

/** The rows of `GET /v1/models`. */
export function modelList(): JsonObject[] {
  return Object.entries(DEMO_MODELS).map(([id, facts]) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'demo',
    ...facts,
  }));
}

/** The model's name; refuses a model of another type, or an unknown one. */
export function requireModel(model: unknown, type: DemoType): string {
  const names = namesOf(type);
  const known = names.find((name) => name === model);
  if (known !== undefined) return known;
  const text = `There is no model "${String(model)}" for this here. Use ${names.join(' or ')}.`;
  throw new DemoRefusal(404, text, 'model');
}

function namesOf(type: DemoType): string[] {
  return Object.entries(DEMO_MODELS).flatMap(([name, facts]) =>
    facts.service_type === type ? [name] : [],
  );
}
