/** The backends of text models, each with its server and the facts that the server reports. */
import type { BackendName } from '@inference-gateway/agent/backends/create-backend';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import {
  startFakeLlamaServer,
  startFakeOllama,
  startFakeOpenAi,
} from '../../support/fake-openai-server.js';
import { startDockerModelRunner } from '../../support/local-servers/docker-model-runner.js';
import { startGpt4All } from '../../support/local-servers/gpt4all.js';
import { JAN_KEY, startJan } from '../../support/local-servers/jan.js';
import { startKoboldCpp } from '../../support/local-servers/koboldcpp.js';
import { startLemonade } from '../../support/local-servers/lemonade.js';
import { startLlamaRouter, startLlamaServer } from '../../support/local-servers/llama-server.js';
import { startLlamaSwap } from '../../support/local-servers/llama-swap.js';
import { startLmStudio, startLmStudioV0 } from '../../support/local-servers/lm-studio.js';
import { startLocalAi } from '../../support/local-servers/localai.js';
import { startMlxLm } from '../../support/local-servers/mlx-lm.js';
import { startSglang } from '../../support/local-servers/sglang.js';
import type { StandInOptions } from '../../support/local-servers/stand-in.js';
import { startTabbyApi, TABBY_KEY } from '../../support/local-servers/tabbyapi.js';
import { startTextGenWebUi } from '../../support/local-servers/text-generation-webui.js';
import { startVllm } from '../../support/local-servers/vllm.js';

export interface Kind {
  readonly name: string;
  readonly backend: BackendName;
  readonly start: (options?: StandInOptions) => Promise<FakeModelServer>;
  /** Behind the origin. */
  readonly path: string;
  /** The key without which the server is never run; null if it needs none. */
  readonly key: string | null;
  readonly knowsKeys: boolean;
  readonly streams: boolean;
  /** What the server calls its first model. */
  readonly served: string;
  /** All that it serves, and nothing that does other work or that runs elsewhere. */
  readonly ids: readonly string[];
  /** Of the first model, in addition to those of a text model without reported facts. */
  readonly told: Readonly<Record<string, unknown>>;
  readonly slots: number | null;
}

const USUAL = {
  path: '/v1',
  key: null,
  knowsKeys: true,
  streams: true,
  served: 'tiny',
  ids: ['tiny'],
  told: {},
  slots: null,
};

export const KINDS: readonly Kind[] = [
  kind('openai', startFakeOpenAi),
  kind('ollama', (options) => startFakeOllama({ models: ['tiny'], ...options }), {
    told: {
      inputs_known: true,
      context_length: 4_096,
      supported_features: ['tools'],
      loaded: false,
    },
  }),
  kind('llama-server', startFakeLlamaServer, {
    told: {
      inputs_known: true,
      context_length: 1_024,
      supported_features: ['tools', 'token-counting'],
      loaded: true,
    },
    slots: 2,
  }),
  kind('llama-server', startLlamaServer, {
    name: 'llama-server with a single model',
    told: {
      inputs_known: true,
      context_length: 1_024,
      supported_features: ['tools', 'token-counting'],
      loaded: true,
    },
    slots: 2,
  }),
  kind('llama-server', startLlamaRouter, {
    name: 'llama-server as a router',
    ids: ['tiny', 'other'],
    told: {
      inputs_known: true,
      context_length: 1_024,
      supported_features: ['tools', 'token-counting'],
      loaded: true,
    },
    slots: 2,
  }),
  kind('lm-studio', startLmStudio, {
    ids: ['tiny', 'seer'],
    told: {
      inputs_known: true,
      context_length: 4_096,
      supported_features: ['tools'],
      loaded: true,
    },
    slots: 4,
  }),
  kind('lm-studio', startLmStudioV0, {
    name: 'lm-studio before 0.4',
    ids: ['tiny', 'seer'],
    told: { context_length: 4_096, supported_features: ['tools'], loaded: true },
  }),
  kind('llama-swap', startLlamaSwap, {
    told: {
      inputs_known: true,
      context_length: 8_192,
      supported_features: ['tools'],
      loaded: true,
    },
  }),
  kind('vllm', startVllm, {
    ids: ['tiny', 'tiny-poet'],
    told: { context_length: 8_192, supported_features: ['token-counting'], loaded: true },
  }),
  kind('sglang', startSglang, {
    told: {
      inputs_known: true,
      context_length: 4_096,
      supported_features: ['tools'],
      loaded: true,
    },
    slots: 16,
  }),
  kind('koboldcpp', startKoboldCpp, {
    served: 'koboldcpp/tiny',
    ids: ['koboldcpp/tiny'],
    told: {
      inputs_known: true,
      context_length: 8_192,
      input_modalities: ['text', 'image'],
      supported_features: ['tools'],
      loaded: true,
    },
    slots: 1,
  }),
  kind('localai', startLocalAi, {
    told: {
      inputs_known: true,
      context_length: 8_192,
      input_modalities: ['text', 'image'],
      supported_features: ['tools'],
      loaded: true,
    },
  }),
  kind('tabbyapi', startTabbyApi, {
    key: TABBY_KEY,
    told: {
      inputs_known: true,
      context_length: 4_096,
      input_modalities: ['text', 'image'],
      loaded: true,
    },
    slots: 4,
  }),
  kind('text-generation-webui', startTextGenWebUi, {
    served: 'tiny.gguf',
    ids: ['tiny.gguf'],
    told: { loaded: true },
    slots: 1,
  }),
  kind('jan', startJan, { key: JAN_KEY }),
  kind('lemonade', startLemonade, {
    ids: ['tiny', 'plain'],
    told: {
      inputs_known: true,
      context_length: 8_192,
      input_modalities: ['text', 'image'],
      supported_features: ['tools', 'reasoning'],
      loaded: true,
    },
  }),
  kind('openai', startDockerModelRunner, {
    name: 'Docker Model Runner as openai',
    path: '/engines/v1',
    knowsKeys: false,
  }),
  kind('mlx-lm', startMlxLm, {
    knowsKeys: false,
    served: 'mlx-community/tiny',
    ids: ['mlx-community/tiny', 'mlx-community/other'],
  }),
  kind('gpt4all', startGpt4All, {
    knowsKeys: false,
    streams: false,
    told: { inputs_known: true },
    slots: 1,
  }),
];

function kind(
  backend: BackendName,
  start: Kind['start'],
  changes: Partial<Omit<Kind, 'backend' | 'start'>> = {},
): Kind {
  return { name: backend, ...USUAL, ...changes, backend, start };
}
