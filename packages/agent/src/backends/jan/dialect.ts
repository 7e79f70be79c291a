/** Jan. It hands on to its owner's cloud accounts, whose models stand in the same list. */
import { foldsUsual, LLAMA_CPP_DROPS } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** Whom it names as the owner of what runs on this machine; else it names a provider. */
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
