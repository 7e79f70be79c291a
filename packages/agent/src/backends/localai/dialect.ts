/** LocalAI: models of every type; it reports more about them than any other server. */
import * as z from 'zod';
import { foldsUsual, OPENAI_KINDS } from '../openai/dialect.js';
import type { AskedServer, Dialect, Listing } from '../openai/dialect.js';
import { count } from '../loose-facts.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import { listItems } from '../openai/list.js';
import { OwnApi } from '../own-api.js';
import { LocalAiLibrary } from './library.js';

const sizes = z.object({
  data: z.array(z.object({ id: z.string(), context_size: count })),
});
const running = z.object({ models: z.array(z.object({ name: z.string() })) });

export const LOCALAI: Dialect = {
  // They would override the owner's settings: which program runs the model, and how it is loaded.
  dropFields: ['backend', 'model_base_name', 'rope_freq_base', 'rope_freq_scale', 'batch'],
  folds: foldsUsual,
  library: (server) => new LocalAiLibrary(new OwnApi(server)),
  async list(server) {
    if (!OPENAI_KINDS.has(server.type)) return { models: [], slots: null };
    const told = await server.find(`${server.baseUrl}/models/capabilities`);
    // Older versions lack this list, and report nothing in the other one.
    const items = readModelList(told) ?? (await listItems(server));
    const fitting = items.filter((item) => fitsType(item, server.type));
    const contexts = new Map(
      sizes.safeParse(told).data?.data.map(({ id, context_size: size }) => [id, size ?? null]),
    );
    const loaded = await loadedOf(server);
    const models = fitting.map((item) => {
      const listed = readListedModel(item, server.type);
      return {
        ...listed,
        contextLength: contexts.get(item.id) ?? listed.contextLength ?? null,
        loaded: loaded?.has(item.id) ?? null,
      };
    });
    return { models, slots: null } satisfies Listing;
  },
};

/** Null if it does not report it. */
async function loadedOf({ root, find }: AskedServer): Promise<ReadonlySet<string> | null> {
  const told = running.safeParse(await find(`${root}/api/ps`)).data;
  return told === undefined ? null : new Set(told.models.map(({ name }) => name));
}
