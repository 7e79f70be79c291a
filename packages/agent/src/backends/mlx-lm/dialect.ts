/**
 * mlx-lm. Its list is the cache of models on the disk; a request for another than the one in
 * memory loads that one in its place, so a name that it does not list is never sent on.
 */
import { foldsUsual } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** What of such a cache does not chat. */
const NO_CHAT = /embed|rerank|whisper|parakeet|kokoro|\bbge-|\be5-|tts\b/i;

export const MLX_LM: Dialect = {
  folds: foldsUsual,
  /** They are loaded for the caller's sake: from the owner's disk, or from the network. */
  dropFields: ['adapters', 'draft_model', 'num_draft_tokens'],
  async list(server) {
    const items = await listItems(server);
    const ours = items.filter(
      (item) => server.type === 'llm' && !NO_CHAT.test(item.id) && fitsType(item, 'llm'),
    );
    return { models: ours.map((item) => readListedModel(item, 'llm')), slots: null };
  },
};
