/** Hugging Face's text-embeddings-inference, with one model of either kind. */
import type { FakeModelServer } from '../fake-model-server.js';
import { sendJson } from '../fake-model-server.js';
import type { Behaviour } from '../fake-model-server.js';
import { vectorModel } from '../vector-model.js';
import { startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** Its default; a longer list is 413. */
export const TEI_MOST = 32;

interface TeiOptions extends StandInOptions {
  readonly kind?: 'embedding' | 'reranker';
}

export function startTei({
  kind = 'embedding',
  ...rest
}: TeiOptions = {}): Promise<FakeModelServer> {
  const facts = kind === 'embedding' ? { pooling: 'cls' } : { id2label: { 0: 'LABEL_0' } };
  return startStandIn(rest, {
    routes: {
      '/health': {},
      '/info': {
        model_id: 'BAAI/bge-m3',
        model_dtype: 'float16',
        model_type: { [kind]: facts },
        max_concurrent_requests: 512,
        max_input_length: 8_192,
        max_batch_tokens: 16_384,
        max_client_batch_size: TEI_MOST,
        version: '1.8.3',
      },
    },
    behaviour: kind === 'embedding' ? vectorModel({ most: TEI_MOST }) : rank,
  });
}

/** At `/rerank` only, with names of its own, and without usage. */
const rank: Behaviour = ({ path, body }, response) => {
  const { query, texts } = body;
  if (path !== '/rerank' || !Array.isArray(texts)) return sendJson(response, 404, {});
  if (texts.length > TEI_MOST) return sendJson(response, 413, { error: 'batch size' });
  const scores = (texts as string[]).map((text, index) => ({
    index,
    score: text === query ? 1 : 1 / (text.length + 1),
  }));
  return sendJson(
    response,
    200,
    scores.toSorted((a, b) => b.score - a.score),
  );
};
