/** Lemonade, as a kind of local server. */
import { answers, listed } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { LEMONADE } from './dialect.js';

export const KIND = {
  name: 'lemonade',
  create: speaking(LEMONADE),
  fingerprint: {
    server: 'Lemonade',
    type: 'llm',
    path: '/v1',
    matches: isLemonade,
    served: listed,
  },
  programs: { servers: ['lemonade*'] },
} as const satisfies ServerKind;

/** Its key guards all but this one path. */
async function isLemonade(ask: Ask): Promise<boolean> {
  if (await answers(ask, '/v1/health', 'all_models_loaded')) return true;
  return (await ask('/v1/health')).status === 401 && answers(ask, '/live', 'status');
}
