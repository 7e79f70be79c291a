/** speaches, as a kind of local server. */
import { asText } from '../../openai-wire/json.js';
import { answers, listOf, listed, said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { SPEACHES } from './dialect.js';

export const KIND = {
  name: 'speaches',
  create: speaking(SPEACHES),
  fingerprint: {
    server: 'speaches',
    type: 'stt',
    path: '/v1',
    matches: isSpeaches,
    served: listed,
  },
  programs: { scripts: ['speaches*'] },
} as const satisfies ServerKind;

/** Many speech servers list `/v1/audio/models` for Open WebUI; only this one is so healthy. */
async function isSpeaches(ask: Ask): Promise<boolean> {
  if (!(await answers(ask, '/v1/audio/models'))) return false;
  if ((await said(ask, '/health'))?.['message'] === 'OK') return true;
  return (await listOf(ask)).some((model) => asText(model['task']) !== null);
}
