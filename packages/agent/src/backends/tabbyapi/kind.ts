/** TabbyAPI, as a kind of local server. */
import { isSoftware } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { TABBYAPI } from './dialect.js';

export const KIND = {
  name: 'tabbyapi',
  soleType: 'llm',
  create: speaking(TABBYAPI),
  fingerprint: {
    server: 'TabbyAPI',
    type: 'llm',
    path: '/v1',
    matches: (ask) => isSoftware(ask, 'TabbyAPI'),
  },
  programs: { servers: ['tabbyapi'], scripts: ['tabbyapi'] },
} as const satisfies ServerKind;
