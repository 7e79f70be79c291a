/** TabbyAPI: one loaded model; its list may hold models that are not, or that nobody has. */
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
  // They choose files of the owner's.
  dropFields: ['prompt_template', 'template_vars', 'lora', 'loras'],
  async list(server) {
    // Where nothing is loaded the card is refused, so whether the key is right shows here alone.
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
