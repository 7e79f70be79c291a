/** GPT4All, as a kind of local server. */
import { hasOwner } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { GPT4ALL } from './dialect.js';

export const KIND = {
  name: 'gpt4all',
  soleType: 'llm',
  create: speaking(GPT4ALL),
  fingerprint: {
    server: 'GPT4All',
    type: 'llm',
    path: '/v1',
    matches: (ask) => hasOwner(ask, 'humanity'),
  },
  programs: { servers: ['gpt4all'] },
} as const satisfies ServerKind;
