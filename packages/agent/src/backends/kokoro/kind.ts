/** Kokoro-FastAPI, as a kind of local server. */
import { hasOwner } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { KOKORO } from './dialect.js';

export const KIND = {
  name: 'kokoro',
  soleType: 'tts',
  create: speaking(KOKORO),
  fingerprint: {
    server: 'Kokoro-FastAPI',
    type: 'tts',
    path: '/v1',
    matches: (ask) => hasOwner(ask, 'kokoro'),
  },
  programs: { scripts: ['kokoro*'] },
} as const satisfies ServerKind;
