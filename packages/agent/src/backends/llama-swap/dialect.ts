/** llama-swap: one door to many servers. What each of them does, only its owner's file tells. */
import * as z from 'zod';
import { foldsUsual, OPENAI_KINDS, LLAMA_CPP_DROPS } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, isElsewhere, readListedModel, tellsType } from '../model-list.js';
import type { ModelItem } from '../model-list.js';
import { listItems } from '../openai/list.js';
import { VLLM } from '../vllm/dialect.js';

const running = z.object({
  running: z.array(z.object({ model: z.string(), state: z.string() })),
});

export const LLAMA_SWAP: Dialect = {
  folds: foldsUsual,
  // Of the servers that are mostly behind it.
  dropFields: [...LLAMA_CPP_DROPS, ...(VLLM.dropFields ?? [])],
  /** Its `concurrencyLimit` is not told; beyond it the answer is 429, which is tried again. */
  async list(server) {
    const items = (await listItems(server)).filter((item) => !isElsewhere(item));
    const told = running.safeParse(await server.find(`${server.root}/running`)).data;
    const states = new Map(told?.running.map(({ model, state }) => [model, state]));
    // Older versions tell of no model what it does: it is taken for what most of them do.
    const isTold = items.some(tellsType);
    const mayBe = (item: ModelItem) =>
      isTold ? OPENAI_KINDS.has(server.type) && tellsType(item) : server.type === 'llm';
    const ours = items.filter((item) => mayBe(item) && fitsType(item, server.type));
    const models = ours.map((item) => {
      const listed = readListedModel(item, server.type);
      const loaded = listed.loaded ?? (told ? states.get(item.id) === 'ready' : null);
      return { ...listed, loaded };
    });
    return { models, slots: null };
  },
};
