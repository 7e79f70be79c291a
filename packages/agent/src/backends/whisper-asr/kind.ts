/** whisper-asr-webservice, as a kind of local server. */
import { asObject } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { WhisperAsrBackend } from './backend.js';

export const KIND = {
  name: 'whisper-asr',
  soleType: 'stt',
  create: (service) => new WhisperAsrBackend(service),
  fingerprint: {
    server: 'whisper-asr-webservice',
    type: 'stt',
    path: '',
    matches: isWhisperWebService,
  },
  programs: { scripts: ['whisper-asr-webservice'] },
} as const satisfies ServerKind;

async function isWhisperWebService(ask: Ask): Promise<boolean> {
  const paths = asObject((await said(ask, '/openapi.json'))?.['paths']);
  return paths !== null && '/asr' in paths;
}
