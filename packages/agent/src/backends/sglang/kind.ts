/** SGLang, as a kind of local server. */
import { asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { SGLANG } from './dialect.js';

export const KIND = {
  name: 'sglang',
  create: speaking(SGLANG),
  fingerprint: {
    server: 'SGLang',
    type: 'llm',
    path: '/v1',
    matches: isSglang,
  },
  programs: { servers: ['sglang'], scripts: ['sglang*'] },
} as const satisfies ServerKind;

async function isSglang(ask: Ask): Promise<boolean> {
  for (const path of ['/model_info', '/get_model_info']) {
    if (asText((await said(ask, path))?.['model_path']) !== null) return true;
  }
  return false;
}
