/** TabbyAPI: one loaded model; its list may include models that are not loaded, or do not exist. */
import * as z from 'zod';
import type { Dialect } from '../openai/dialect.js';
import { count, flag, inputsTold } from '../loose-facts.js';
import { listItems } from '../openai/list.js';

const card = z.object({
  id: z.string().min(1),
  parameters: z
    .object({
      max_seq_len: count,
      max_batch_size: z.int().positive().nullish().catch(null),
      use_vision: flag,
    })
    .nullish()
    .catch(null),
});

export const TABBYAPI: Dialect = {
  // They select files of the owner's.
  dropFields: ['prompt_template', 'template_vars', 'lora', 'loras'],
  async list(server) {
    // Without a loaded model the model card is refused, so only this list shows whether the key is
    // right.
    await listItems(server);
    const loaded = card.safeParse(await server.find(`${server.baseUrl}/model`)).data;
    if (server.type !== 'llm' || loaded === undefined) return { models: [], slots: null };
    const { id, parameters } = loaded;
    const model = {
      servedName: id,
      contextLength: parameters?.max_seq_len ?? null,
      inputModalities: inputsTold({ image: parameters?.use_vision }),
      loaded: true,
    };
    return { models: [model], slots: parameters?.max_batch_size ?? null };
  },
};
