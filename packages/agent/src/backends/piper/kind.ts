/** piper, as a kind of local server. */
import { converterOf } from '../../media/built-in-converter.js';
import { asObject, asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { PiperBackend } from './backend.js';

export const KIND = {
  name: 'piper',
  soleType: 'tts',
  create: (service, { ffmpeg }) => new PiperBackend(service, converterOf(ffmpeg)),
  fingerprint: {
    server: 'piper',
    type: 'tts',
    path: '',
    matches: isPiper,
  },
  programs: { scripts: ['piper.http_server'] },
} as const satisfies ServerKind;

/** Voices by their names, and the one that it was started with. */
async function isPiper(ask: Ask): Promise<boolean> {
  if ((await said(ask, '/voices')) === null) return false;
  const voice = asObject((await said(ask, '/info'))?.['voice']);
  return asText(voice?.['name']) !== null;
}
