/**
 * Hugging Face's text-embeddings-inference: one model, which either makes embeddings, by OpenAI's
 * path, or ranks, by a path and in a form of its own.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { LocalFailure } from '../backend.js';
import { count } from '../loose-facts.js';
import type { Dialect } from '../openai/dialect.js';

const info = z.object({
  model_id: z.string().min(1),
  model_type: z.record(z.string(), z.unknown()),
  max_input_length: count,
  max_client_batch_size: count,
});

/** Its words for them. */
const TYPES: Readonly<Partial<Record<ServiceType, string>>> = {
  embedding: 'embedding',
  rerank: 'reranker',
};

export const TEI: Dialect = {
  async list({ root, get, type }) {
    const told = info.safeParse(await get(`${root}/info`)).data;
    if (told === undefined) {
      const message = `${root}/info is not text-embeddings-inference's. Check the base URL.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const { model_id: servedName, max_input_length: contextLength } = told;
    const isOurs = (TYPES[type] ?? '') in told.model_type;
    const most = told.max_client_batch_size;
    return {
      models: isOurs ? [{ servedName, contextLength: contextLength ?? null, loaded: true }] : [],
      slots: null,
      ...(most && { mostInputs: most }),
    };
  },
  rootPaths: { rerank: '/rerank' },
  // Ranking has another form; `truncate` cuts a text that is too long instead of refusing all.
  shape({ documents, ...fields }) {
    return documents === undefined ? fields : { ...fields, texts: documents, truncate: true };
  },
};
