/** KoboldCpp, as a kind of local server. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { isSoftware, said, wantsKeyAt } from '../detection/signs.js';
import type { Ask, ServedType } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { KOBOLDCPP } from './dialect.js';

export const KIND = {
  name: 'koboldcpp',
  create: speaking(KOBOLDCPP),
  fingerprint: {
    server: 'KoboldCpp',
    type: 'llm',
    path: '/v1',
    matches: (ask) => isSoftware(ask, 'KoboldCpp'),
    served: koboldTypes,
    wantsKey: (ask) => wantsKeyAt(ask, '/v1/models', '/api/extra/version'),
    takesTurns: true,
  },
  programs: { servers: ['koboldcpp*'], scripts: ['koboldcpp*'] },
} as const satisfies ServerKind;

/** What KoboldCpp has loaded; its music has no path in OpenAI's API. */
const KOBOLD_FLAGS = [
  ['llm', 'llm'],
  ['stt', 'transcribe'],
  ['tts', 'tts'],
  ['image', 'txt2img'],
] as const satisfies readonly (readonly [ServiceType, string])[];

async function koboldTypes(ask: Ask): Promise<readonly ServedType[]> {
  const flags = await said(ask, '/api/extra/version');
  const loaded = KOBOLD_FLAGS.filter(([, flag]) => flags?.[flag] === true);
  return loaded.map(([type]) => ({ type, models: null }));
}
