/** Turns what a local server reports of its models into what callers see of them. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { ConfiguredModel, ServiceConfig } from './backend.js';

/**
 * A model as its local server lists it; a field is absent or null if the server does not report it.
 */
export interface ListedModel {
  readonly servedName: string;
  readonly contextLength?: number | null;
  readonly inputModalities?: readonly string[] | null;
  readonly supportedFeatures?: readonly string[] | null;
  readonly voices?: readonly string[] | null;
  readonly loaded?: boolean | null;
}

/** Limits of the link's model schema: one model beyond them would invalidate the whole list. */
const MAX_NAME_CHARACTERS = 256;
const MAX_NAMES = 64;

/**
 * The configured models if there are any, which are trusted, else all listed ones. One row per id.
 */
export function advertise(
  listed: readonly ListedModel[],
  service: ServiceConfig,
): AdvertisedModel[] {
  const models = service.models?.map((model) => configured(model, listed)) ?? listed.map(named);
  const byId = new Map<string, AdvertisedModel>();
  for (const { id, model } of models) {
    const fits = isName(id) && isName(model.servedName);
    if (fits && !byId.has(id)) byId.set(id, advertised(id, model, service.type));
  }
  return [...byId.values()];
}

/** A file's path would show strangers the owner's user name; a repository's `org/name` stays. */
export function withoutPath(name: string): string {
  const isPath =
    /^(?:[/~]|\.{1,2}[/\\]|[a-z]:[/\\])/i.test(name) ||
    name.includes('\\') ||
    name.toLowerCase().endsWith('.gguf');
  if (!isPath) return name;
  return name.split(/[/\\]/).findLast((step) => step !== '') ?? name;
}

interface NamedModel {
  readonly id: string;
  readonly model: ListedModel;
}

function named(model: ListedModel): NamedModel {
  return { id: withoutPath(model.servedName), model };
}

/** The owner's settings, completed with what the local server reports of the model. */
function configured(model: ConfiguredModel, listed: readonly ListedModel[]): NamedModel {
  const { id, servedName, contextLength, inputModalities, supportedFeatures, voices } = model;
  const known =
    listed.find((candidate) => candidate.servedName === servedName) ??
    listed.find((candidate) => withoutPath(candidate.servedName) === servedName);
  return {
    id,
    model: {
      servedName: known?.servedName ?? servedName,
      contextLength: contextLength ?? known?.contextLength ?? null,
      inputModalities: inputModalities ?? known?.inputModalities ?? null,
      supportedFeatures: supportedFeatures ?? known?.supportedFeatures ?? null,
      voices: voices ?? known?.voices ?? null,
      loaded: known?.loaded ?? null,
    },
  };
}

function advertised(id: string, model: ListedModel, type: ServiceType): AdvertisedModel {
  const modalities = MODALITIES[type];
  return {
    id,
    served_name: model.servedName,
    context_length: readCount(model.contextLength),
    input_modalities: names(model.inputModalities ?? [modalities.input]),
    ...(model.inputModalities && { inputs_known: true }),
    output_modalities: [modalities.output],
    supported_features: names(model.supportedFeatures ?? []),
    ...(model.voices && { voices: model.voices.filter(isName) }),
    loaded: model.loaded ?? null,
  };
}

/** Inputs and outputs of a service of each type, unless a model reports more. */
export const MODALITIES = {
  llm: { input: 'text', output: 'text' },
  stt: { input: 'audio', output: 'text' },
  tts: { input: 'text', output: 'audio' },
  image: { input: 'text', output: 'image' },
  video: { input: 'text', output: 'video' },
  music: { input: 'text', output: 'audio' },
  embedding: { input: 'text', output: 'embedding' },
  rerank: { input: 'text', output: 'score' },
} as const satisfies Record<ServiceType, { input: string; output: string }>;

/** Servers report a context length of 0 if they do not know it. */
function readCount(count: number | null | undefined): number | null {
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : null;
}

function names(list: readonly string[]): string[] {
  return [...new Set(list)].filter(isName).slice(0, MAX_NAMES);
}

function isName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS;
}
