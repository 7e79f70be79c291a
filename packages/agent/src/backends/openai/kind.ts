/**
 * Any server that speaks OpenAI's API, and the signs of those that are known by name but need no
 * dialect.
 */
import { asText } from '../../openai-wire/json.js';
import { apiTitleOf, listsModels, namedTypes, said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind, Sign } from '../server-kind.js';
import { speaking } from './backend.js';

export const KIND = {
  name: 'openai',
  create: speaking({}),
  fingerprint: {
    server: 'OpenAI-compatible',
    type: 'llm',
    path: '/v1',
    matches: isAnyModelServer,
    served: namedTypes,
  },
  programs: { servers: ['model-runner'], scripts: ['mlx_audio*', 'mlx-omni-server'] },
} as const satisfies ServerKind;

export const DOCKER_MODEL_RUNNER: Sign = {
  server: 'Docker Model Runner',
  type: 'llm',
  path: '/engines/v1',
  matches: (ask) => listsModels(ask, '/engines/v1/models'),
};

export const MLX_AUDIO: Sign = {
  server: 'mlx-audio',
  type: 'tts',
  path: '/v1',
  matches: isMlxAudio,
  served: namedTypes,
};

export const MLX_OMNI_SERVER: Sign = {
  server: 'mlx-omni-server',
  type: 'llm',
  path: '/v1',
  matches: async (ask) => (await apiTitleOf(ask)) === 'MLX Omni Server',
  served: namedTypes,
};

/** A server that wants a key is one, too. */
async function isAnyModelServer(ask: Ask): Promise<boolean> {
  return (await ask('/v1/models')).status === 401 || (await listsModels(ask, '/v1/models'));
}

async function isMlxAudio(ask: Ask): Promise<boolean> {
  return asText((await said(ask, '/'))?.['message'])?.includes('MLX Audio') ?? false;
}
