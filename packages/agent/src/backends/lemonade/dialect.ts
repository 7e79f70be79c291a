/**
 * Lemonade: models of all types, identified by their labels, or by the recipe if no label tells.
 */
import * as z from 'zod';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { ListedModel } from '../advertise.js';
import { foldsUsual, OPENAI_KINDS, LLAMA_CPP_DROPS } from '../openai/dialect.js';
import type { AskedServer, Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel, tellsType } from '../model-list.js';
import type { ModelItem } from '../model-list.js';
import { listItems } from '../openai/list.js';

const health = z.object({ all_models_loaded: z.array(z.object({ model_name: z.string() })) });

/** The type of a recipe's models, unless a label names another. */
const RECIPES: Readonly<Record<string, ServiceType>> = {
  llamacpp: 'llm',
  flm: 'llm',
  'ryzenai-llm': 'llm',
  vllm: 'llm',
  whispercpp: 'stt',
  'sd-cpp': 'image',
  kokoro: 'tts',
};

export const LEMONADE: Dialect = {
  folds: foldsUsual,
  dropFields: LLAMA_CPP_DROPS,
  async list(server) {
    const items = await listItems(server);
    const told = health.safeParse(await server.find(`${server.baseUrl}/health`)).data;
    const loaded = new Set(told?.all_models_loaded.map(({ model_name: name }) => name));
    const ours = items.filter((item) => isOurs(item, server.type));
    const models = ours.map((item) => ({
      ...listed(item, server),
      loaded: told === undefined ? null : loaded.has(item.id),
    }));
    return { models, slots: null };
  },
};

/**
 * A collection uses several models, any of which may be a cloud model, and an upscaler makes no
 * image of its own.
 */
function isOurs(item: ModelItem, type: ServiceType): boolean {
  const recipe = item.recipe ?? '';
  if (recipe.startsWith('collection') || item.labels?.includes('upscaling')) return false;
  if (!OPENAI_KINDS.has(type) || !fitsType(item, type)) return false;
  return tellsType(item) || RECIPES[recipe] === type;
}

function listed(item: ModelItem, { type }: AskedServer): ListedModel {
  const model = readListedModel(item, type);
  if (!item.labels?.includes('chat-transcription')) return model;
  return { ...model, inputModalities: [...(model.inputModalities ?? ['text']), 'audio'] };
}
