/** Chatterbox-TTS-Server, as a kind of local server. */
import { asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { CHATTERBOX } from './dialect.js';

export const KIND = {
  name: 'chatterbox',
  soleType: 'tts',
  create: speaking(CHATTERBOX),
  fingerprint: {
    server: 'Chatterbox-TTS-Server',
    type: 'tts',
    path: '/v1',
    matches: isChatterbox,
  },
  programs: { scripts: ['chatterbox*'] },
} as const satisfies ServerKind;

/** Its title is its owner's choice. */
async function isChatterbox(ask: Ask): Promise<boolean> {
  const model = await said(ask, '/api/model-info');
  const isTurbo = model !== null && 'turbo_available_in_package' in model;
  return isTurbo || (asText(model?.['class_name'])?.startsWith('Chatterbox') ?? false);
}
