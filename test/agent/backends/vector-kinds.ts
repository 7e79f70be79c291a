/** The backends that make vectors or rank, each before its server. */
import type { BackendName } from '@inference-gateway/agent/backends/create-backend';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import {
  startFakeLlamaServer,
  startFakeOllama,
  startFakeOpenAi,
} from '../../support/fake-openai-server.js';
import { startInfinity } from '../../support/local-servers/infinity.js';
import { startTei } from '../../support/local-servers/tei.js';
import { vectorModel } from '../../support/vector-model.js';

export interface VectorKind {
  readonly backend: BackendName;
  readonly type: Extract<ServiceType, 'embedding' | 'rerank'>;
  /** The path of its base URL. */
  readonly path: string;
  readonly start: () => Promise<FakeModelServer>;
  /** The names of its models of this type. */
  readonly models: readonly string[];
}

const behaviour = vectorModel();
const ollama = () => {
  const models = [
    { id: 'nomic', capabilities: ['embedding'] },
    { id: 'tiny', capabilities: ['completion'] },
  ];
  return startFakeOllama({ models, behaviour });
};
const llama = () => startFakeLlamaServer({ models: ['bge'], behaviour });
const vllm = (...models: readonly string[]) => startFakeOpenAi({ models, behaviour });
const VLLM_MODELS = ['org/bge-m3', 'org/bge-reranker', 'org/Qwen3-8B', 'org/whisper'];
const localAi = () => {
  const models = [
    { id: 'vectors', capabilities: ['embeddings'] },
    { id: 'ranks', capabilities: ['rerank'] },
    { id: 'tiny', capabilities: ['chat'] },
  ];
  return startFakeOpenAi({ models, behaviour });
};
const lmStudio = () => {
  const ids = ['text-embedding-nomic', 'tiny'];
  const [embedder, chat] = ids.map((key) => ({ key, loaded_instances: [] }));
  const listed = [
    { ...embedder, type: 'embedding' },
    { ...chat, type: 'llm' },
  ];
  const routes = { '/api/v1/models': { models: listed } };
  return startFakeOpenAi({ models: ids, routes, behaviour });
};

const V1 = { path: '/v1' };
const ROOT = { path: '' };

export const VECTOR_KINDS: readonly VectorKind[] = [
  { backend: 'openai', type: 'embedding', ...V1, start: () => vllm('m'), models: ['m'] },
  { backend: 'openai', type: 'rerank', ...V1, start: () => vllm('m'), models: ['m'] },
  { backend: 'ollama', type: 'embedding', ...ROOT, start: ollama, models: ['nomic'] },
  { backend: 'llama-server', type: 'embedding', ...ROOT, start: llama, models: ['bge'] },
  { backend: 'llama-server', type: 'rerank', ...ROOT, start: llama, models: ['bge'] },
  {
    backend: 'vllm',
    type: 'embedding',
    ...V1,
    start: () => vllm(...VLLM_MODELS),
    models: ['org/bge-m3'],
  },
  {
    backend: 'vllm',
    type: 'rerank',
    ...V1,
    start: () => vllm(...VLLM_MODELS),
    models: ['org/bge-reranker'],
  },
  { backend: 'localai', type: 'embedding', ...V1, start: localAi, models: ['vectors'] },
  { backend: 'localai', type: 'rerank', ...V1, start: localAi, models: ['ranks'] },
  {
    backend: 'lm-studio',
    type: 'embedding',
    ...V1,
    start: lmStudio,
    models: ['text-embedding-nomic'],
  },
  { backend: 'tei', type: 'embedding', ...V1, start: () => startTei(), models: ['BAAI/bge-m3'] },
  {
    backend: 'tei',
    type: 'rerank',
    ...V1,
    start: () => startTei({ kind: 'reranker' }),
    models: ['BAAI/bge-m3'],
  },
  { backend: 'infinity', type: 'embedding', ...ROOT, start: startInfinity, models: ['embedder'] },
  { backend: 'infinity', type: 'rerank', ...ROOT, start: startInfinity, models: ['ranker'] },
];
