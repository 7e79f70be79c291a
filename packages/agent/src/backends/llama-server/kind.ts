/** llama-server, as a kind of local server. */
import { asText } from '../../openai-wire/json.js';
import { said, wantsKeyAt } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { LlamaServerBackend } from './backend.js';

export const KIND = {
  name: 'llama-server',
  soleType: 'llm',
  create: (service) => new LlamaServerBackend(service),
  fingerprint: {
    server: 'llama-server',
    type: 'llm',
    path: '',
    matches: isLlamaServer,
    wantsKey: (ask) => wantsKeyAt(ask, '/props'),
  },
  programs: { servers: ['llama-server', 'ik_llama'] },
} as const satisfies ServerKind;

/** The header shows even where a key guards the properties. */
async function isLlamaServer(ask: Ask): Promise<boolean> {
  const { server } = await ask('/props');
  const hasHeader = server === 'llama.cpp' || server === 'ik_llama.cpp';
  return hasHeader || asText((await said(ask, '/props'))?.['build_info']) !== null;
}
