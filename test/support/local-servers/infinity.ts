/** Infinity: embeddings and reranking at its root. */
import type { FakeModelServer } from '../fake-model-server.js';
import { vectorModel } from '../vector-model.js';
import { startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

function row(id: string, capability: string): object {
  return {
    id,
    object: 'model',
    owned_by: 'infinity',
    backend: 'torch',
    capabilities: [capability],
    stats: { queue_fraction: 0 },
  };
}

export function startInfinity(options: StandInOptions = {}): Promise<FakeModelServer> {
  const data = [row('embedder', 'embed'), row('ranker', 'rerank'), row('judge', 'classify')];
  return startStandIn(options, {
    headers: { server: 'uvicorn' },
    routes: { '/health': { unix: 1 }, '/models': { object: 'list', data } },
    behaviour: vectorModel(),
  });
}
