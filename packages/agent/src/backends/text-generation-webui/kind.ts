/** text-generation-webui, as a kind of local server. */
import { answers } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { TEXT_GENERATION_WEBUI } from './dialect.js';

export const KIND = {
  name: 'text-generation-webui',
  soleType: 'llm',
  create: speaking(TEXT_GENERATION_WEBUI),
  fingerprint: {
    server: 'text-generation-webui',
    type: 'llm',
    path: '/v1',
    matches: (ask) => answers(ask, '/v1/internal/model/info', 'model_name'),
  },
  programs: { scripts: ['text-generation-webui'] },
} as const satisfies ServerKind;
