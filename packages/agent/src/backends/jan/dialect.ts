/** Jan. It also forwards to its owner's cloud accounts, whose models are in the same list. */
import { foldsUsual, LLAMA_CPP_DROPS } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** The owner names of models that run on this machine; other models name a cloud provider. */
const LOCAL_OWNERS: ReadonlySet<string> = new Set(['', 'user', 'jan', 'llamacpp', 'mlx']);

export const JAN: Dialect = {
  folds: foldsUsual,
  dropFields: LLAMA_CPP_DROPS,
  async list(server) {
    const items = await listItems(server);
    const local = items.filter(({ owned_by: owner }) => LOCAL_OWNERS.has(owner ?? ''));
    const fitting = local.filter((item) => fitsType(item, server.type));
    return { models: fitting.map((item) => readListedModel(item, server.type)), slots: null };
  },
};
