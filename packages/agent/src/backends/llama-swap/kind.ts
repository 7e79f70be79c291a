/** llama-swap, as a kind of local server. */
import { listed, said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { LLAMA_SWAP } from './dialect.js';

export const KIND = {
  name: 'llama-swap',
  create: speaking(LLAMA_SWAP),
  fingerprint: {
    server: 'llama-swap',
    type: 'llm',
    path: '/v1',
    matches: isLlamaSwap,
    served: listed,
    takesTurns: true,
  },
  programs: { servers: ['llama-swap'] },
} as const satisfies ServerKind;

/** Its key guards what runs, but not that it is well. */
async function isLlamaSwap(ask: Ask): Promise<boolean> {
  const isRefused = (await ask('/running')).status === 401;
  if (isRefused) return (await ask('/health')).text === 'OK';
  return Array.isArray((await said(ask, '/running'))?.['running']);
}
