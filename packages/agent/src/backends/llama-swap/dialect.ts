/** llama-swap: a proxy for many servers. Only its owner's file says what each of them does. */
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
  // For the servers that are usually behind it.
  dropFields: [...LLAMA_CPP_DROPS, ...(VLLM.dropFields ?? [])],
  /**
   * It does not report its `concurrencyLimit`; above the limit it answers 429, which is retried.
   */
  async list(server) {
    const items = (await listItems(server)).filter((item) => !isElsewhere(item));
    const told = running.safeParse(await server.find(`${server.root}/running`)).data;
    const states = new Map(told?.running.map(({ model, state }) => [model, state]));
    // Older versions report no model's type: then the service's type is assumed.
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
