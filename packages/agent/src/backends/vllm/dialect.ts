/** vLLM: one fixed model and its adapters; it reports no capabilities. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import type { ModelItem } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** The names of the transcription models that it serves. */
const TRANSCRIBER = /whisper|voxtral-mini-transcribe|parakeet|canary/i;
/** It does not report the type of its model: the name has to tell. */
const RERANKER = /rerank/i;
const EMBEDDER = /embed|\bbge-|\be5-|\bgte-/i;
const REWARDER = /reward/i;

export const VLLM: Dialect = {
  /**
   * A template in the request would run on the owner's machine, logits processors name Python
   * functions, the cache would be moved to or from a machine that a caller names, and embeddings
   * are tensors that it unpickles (CVE-2025-62164).
   */
  dropFields: ['chat_template', 'logits_processors', 'kv_transfer_params', 'prompt_embeds'],
  counting: 'messages',
  async list(server) {
    const items = await listItems(server);
    const ours = items.filter((item) => doesWork(item, server.type) && fitsType(item, server.type));
    const models = ours.map((item) => ({ ...readListedModel(item, server.type), loaded: true }));
    return { models, slots: null };
  },
};

/** The first that fits. */
const NAMES: readonly (readonly [RegExp, ServiceType | null])[] = [
  [TRANSCRIBER, 'stt'],
  [RERANKER, 'rerank'],
  [EMBEDDER, 'embedding'],
  [REWARDER, null],
];

function doesWork({ id }: ModelItem, type: ServiceType): boolean {
  const named = NAMES.find(([pattern]) => pattern.test(id));
  return type === (named === undefined ? 'llm' : named[1]);
}
