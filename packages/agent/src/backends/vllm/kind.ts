/** vLLM, as a kind of local server. */
import { asText } from '../../openai-wire/json.js';
import { hasOwner, namedTypes, said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { VLLM } from './dialect.js';

export const KIND = {
  name: 'vllm',
  create: speaking(VLLM),
  fingerprint: {
    server: 'vLLM',
    type: 'llm',
    path: '/v1',
    matches: isVllm,
    served: namedTypes,
  },
  programs: { servers: ['vllm'], workers: ['vllm::enginecore', 'vllm::worker'], scripts: ['vllm'] },
} as const satisfies ServerKind;

/** Its key guards the list of models, never the version. */
async function isVllm(ask: Ask): Promise<boolean> {
  if (asText((await said(ask, '/version'))?.['version']) === null) return false;
  return (await ask('/v1/models')).status === 401 || (await hasOwner(ask, 'vllm'));
}
