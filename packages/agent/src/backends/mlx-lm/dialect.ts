/**
 * mlx-lm. It lists the models cached on the disk; a request for another model replaces the one in
 * memory, so the agent never sends a name that is not listed.
 */
import { foldsUsual } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** Models of such a cache that do not chat. */
const NO_CHAT = /embed|rerank|whisper|parakeet|kokoro|\bbge-|\be5-|tts\b/i;

export const MLX_LM: Dialect = {
  folds: foldsUsual,
  /** A request could load them from the owner's disk or from the network. */
  dropFields: ['adapters', 'draft_model', 'num_draft_tokens'],
  async list(server) {
    const items = await listItems(server);
    const ours = items.filter(
      (item) => server.type === 'llm' && !NO_CHAT.test(item.id) && fitsType(item, 'llm'),
    );
    return { models: ours.map((item) => readListedModel(item, 'llm')), slots: null };
  },
};
