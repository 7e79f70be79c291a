/** openedai-speech, as a kind of local server. */
import { answers, listOf } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { OPENEDAI_SPEECH } from './dialect.js';

export const KIND = {
  name: 'openedai-speech',
  soleType: 'tts',
  create: speaking(OPENEDAI_SPEECH),
  fingerprint: {
    server: 'openedai-speech',
    type: 'tts',
    path: '/v1',
    matches: isOpenedAiSpeech,
  },
  programs: { scripts: ['openedai-speech'] },
} as const satisfies ServerKind;

/** It names its models as OpenAI does, and bills nobody. */
async function isOpenedAiSpeech(ask: Ask): Promise<boolean> {
  const models = await listOf(ask);
  const isSpeech = models.some(({ id }) => id === 'tts-1');
  const isOwned = models.every((model) => model['owned_by'] === 'user');
  return isSpeech && isOwned && (await answers(ask, '/v1/billing/usage', 'total_usage'));
}
