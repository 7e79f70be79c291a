/** Orpheus-FastAPI, as a kind of local server. */
import { apiTitleOf } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { ORPHEUS } from './dialect.js';

export const KIND = {
  name: 'orpheus',
  soleType: 'tts',
  create: speaking(ORPHEUS),
  fingerprint: {
    server: 'Orpheus-FastAPI',
    type: 'tts',
    path: '/v1',
    matches: async (ask) => /^orpheus-fastapi$/i.test(await apiTitleOf(ask)),
  },
  programs: { scripts: ['orpheus*'] },
} as const satisfies ServerKind;
