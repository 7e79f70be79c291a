/** chatterbox-tts-api, as a kind of local server. */
import { hasOwner } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { CHATTERBOX_TTS_API } from './dialect.js';

export const KIND = {
  name: 'chatterbox-tts-api',
  soleType: 'tts',
  create: speaking(CHATTERBOX_TTS_API),
  fingerprint: {
    server: 'chatterbox-tts-api',
    type: 'tts',
    path: '/v1',
    matches: (ask) => hasOwner(ask, 'resemble-ai'),
  },
  programs: { scripts: ['chatterbox*'] },
} as const satisfies ServerKind;
