/** LocalAI, as a kind of local server. */
import { answers, listedTypes } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { LOCALAI } from './dialect.js';

export const KIND = {
  name: 'localai',
  create: speaking(LOCALAI),
  fingerprint: {
    server: 'LocalAI',
    type: 'llm',
    path: '/v1',
    matches: (ask) => answers(ask, '/.well-known/localai.json'),
    served: (ask) => listedTypes(ask, '/v1/models/capabilities'),
  },
  programs: { servers: ['localai', 'local-ai'] },
} as const satisfies ServerKind;
