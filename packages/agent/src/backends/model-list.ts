/** `GET /v1/models` of many servers: what each item reports beyond OpenAI's four fields. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { MODALITIES } from './advertise.js';
import type { ListedModel } from './advertise.js';
import { count, names, text } from './loose-facts.js';
import { translates } from './transcription.js';

const flags = z.record(z.string(), z.unknown());

const item = z.object({
  id: z.string().min(1),
  owned_by: text,
  /** LM Studio `llm | vlm | embeddings`; llama-swap `peer` for a model on another machine. */
  type: text,
  /** Another gateway with this software. */
  service_type: text,
  /** Lemonade; `cloud` runs elsewhere at the owner's cost. */
  recipe: text,
  /** speaches. */
  task: text,
  /** LM Studio. */
  state: text,
  /** llama-server in router mode, llama-swap. */
  status: z.object({ value: text }).nullish().catch(null),
  context_length: count,
  max_model_len: count,
  meta: z
    .object({
      n_ctx: count,
      /** llama-swap names the machine of a peer's model. */
      llamaswap: z.object({ peerID: text }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
  architecture: z
    .object({ input_modalities: names, output_modalities: names })
    .nullish()
    .catch(null),
  input_modalities: names,
  output_modalities: names,
  /** llama-server. */
  aliases: names,
  supported_features: names,
  features: names,
  supported_parameters: names,
  labels: names,
  capabilities: z
    .union([z.array(z.string()), flags])
    .nullish()
    .catch(null),
});
const items = z.array(z.unknown());
const list = z.union([z.object({ data: items }).transform(({ data }) => data), items]);

export type ModelItem = z.infer<typeof item>;

/** The valid items; null if the answer is not a model list. */
export function readModelList(json: unknown): ModelItem[] | null {
  const parsed = list.safeParse(json);
  if (!parsed.success) return null;
  return parsed.data.flatMap((candidate) => item.safeParse(candidate).data ?? []);
}

/**
 * Whether it does this type of work on this machine: no embeddings, no cloud model. A row without
 * any hint counts: most servers have only one type.
 */
export function fitsType(model: ModelItem, type: ServiceType): boolean {
  if (isElsewhere(model) || NO_MODEL.has(model.id)) return false;
  // LM Studio's own names.
  if (model.id.startsWith('text-embedding-')) return type === 'embedding';
  if ((model.service_type ?? type) !== type) return false;
  if ((model.task ?? TASKS[type]) !== TASKS[type]) return false;
  const { input, output } = MODALITIES[type];
  if (!(outputsOf(model)?.includes(output) ?? true)) return false;
  const words = typeWordsOf(model);
  if (words.length > 0) return words.some((word) => TYPE_OF_WORD.get(word) === type);
  const inputs = toldInputsOf(model);
  // A chat model with audio input is not a transcription model.
  return (
    inputs === null || (inputs.includes(input) && !(type === 'stt' && inputs.includes('text')))
  );
}

/** Whether the row names the model's type at all. */
export function tellsType(model: ModelItem): boolean {
  const said = model.service_type ?? model.task ?? outputsOf(model) ?? null;
  return said !== null || typeWordsOf(model).length > 0;
}

/**
 * A cloud's or a peer's model: it would run on another machine, at the owner's cost. In OpenAI's
 * list, only their names identify Ollama's cloud models.
 */
export function isElsewhere({ id, recipe, type, meta }: ModelItem): boolean {
  const isCloud = recipe === 'cloud' || CLOUD_NAME.test(id);
  return isCloud || type === 'peer' || Boolean(meta?.llamaswap?.peerID);
}

const CLOUD_NAME = /[-:]cloud$/;

/** The words that name its type of work. */
function typeWordsOf(model: ModelItem): string[] {
  const words = [...wordsOf(model), ...(model.type ? [model.type] : [])];
  return words.filter((word) => OTHER_WORDS.has(word) || TYPE_OF_WORD.has(word));
}

function outputsOf(model: ModelItem): readonly string[] | null {
  return model.architecture?.output_modalities ?? model.output_modalities ?? null;
}

function toldInputsOf(model: ModelItem): readonly string[] | null {
  return model.architecture?.input_modalities ?? model.input_modalities ?? null;
}

export function readListedModel(model: ModelItem, type: ServiceType): ListedModel {
  const { context_length: served, max_model_len: maximum, meta } = model;
  return {
    servedName: model.id,
    contextLength: served ?? maximum ?? meta?.n_ctx ?? null,
    inputModalities: inputsOf(model),
    supportedFeatures: featuresOf(model, type),
    loaded: isLoaded(model),
  };
}

/** speaches; the others are Hugging Face's task names. */
const TASKS: Readonly<Record<ServiceType, string>> = {
  llm: 'text-generation',
  stt: 'automatic-speech-recognition',
  tts: 'text-to-speech',
  image: 'text-to-image',
  video: 'text-to-video',
  music: 'text-to-audio',
  embedding: 'feature-extraction',
  rerank: 'text-ranking',
};
/** LM Studio, LocalAI, Lemonade, llama-swap and Infinity. */
const TYPE_WORDS: Readonly<Record<ServiceType, readonly string[]>> = {
  llm: ['chat', 'completion', 'completions', 'llm', 'vlm'],
  stt: ['transcript', 'transcription'],
  tts: ['tts'],
  image: ['image'],
  video: ['video'],
  music: ['sound_generation', 'audio-generation'],
  embedding: ['embed', 'embedding', 'embeddings'],
  rerank: ['rerank', 'reranking'],
};
const TYPE_OF_WORD = new Map(
  SERVICE_TYPES.flatMap((type) => TYPE_WORDS[type].map((word) => [word, type] as const)),
);
const OTHER_WORDS: ReadonlySet<string> = new Set(['classification', 'classify']);
/** How KoboldCpp and text-generation-webui show that no model is loaded. */
const NO_MODEL: ReadonlySet<string> = new Set(['inactive', 'koboldcpp/inactive', 'None']);
const TOOL_WORDS = ['tools', 'tool_use', 'tool-calling', 'tool_calling', 'trained_for_tool_use'];
const REASONING_WORDS = ['reasoning', 'thinking'];

/** The model's capabilities in the server's own words. */
function wordsOf({ capabilities, labels, supported_parameters: parameters }: ModelItem): string[] {
  const flagged = Array.isArray(capabilities)
    ? capabilities
    : Object.entries(capabilities ?? {}).flatMap(([word, on]) => (on ? [word] : []));
  return [...flagged, ...(labels ?? []), ...(parameters ?? [])];
}

function inputsOf(model: ModelItem): readonly string[] | null {
  const told = toldInputsOf(model);
  if (told !== null) return told;
  const words = wordsOf(model);
  return words.includes('vision') || model.type === 'vlm' ? ['text', 'image'] : null;
}

function featuresOf(model: ModelItem, type: ServiceType): readonly string[] {
  const words = wordsOf(model);
  const told = [...(model.supported_features ?? []), ...(model.features ?? [])];
  if (TOOL_WORDS.some((word) => words.includes(word))) told.push('tools');
  if (REASONING_WORDS.some((word) => words.includes(word))) told.push('reasoning');
  // speaches and vLLM return timestamps; for others it is unknown.
  const isTimed = model.task === TASKS.stt || model.owned_by === 'vllm';
  if (type === 'stt' && isTimed) {
    told.push('timestamps');
    if (/whisper/i.test(model.id) && translates(model.id)) told.push('translation');
  }
  return told;
}

function isLoaded({ status, state }: ModelItem): boolean | null {
  const said = status?.value ?? state;
  return said ? said === 'loaded' : null;
}
