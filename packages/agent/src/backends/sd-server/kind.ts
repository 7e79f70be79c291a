/** sd-server, as a kind of local server. */
import { answers } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { sdServer } from './dialect.js';

export const KIND = {
  name: 'sd-server',
  soleType: 'image',
  create: speaking(sdServer),
  fingerprint: {
    server: 'sd-server',
    type: 'image',
    path: '/v1',
    matches: (ask) => answers(ask, '/sdcpp/v1/capabilities'),
  },
  programs: { servers: ['sd-server'] },
} as const satisfies ServerKind;
