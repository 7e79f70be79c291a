/** LM Studio, as a kind of local server. */
import { asObjects, asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { LM_STUDIO } from './dialect.js';

export const KIND = {
  name: 'lm-studio',
  create: speaking(LM_STUDIO),
  fingerprint: {
    server: 'LM Studio',
    type: 'llm',
    path: '/v1',
    matches: isLmStudio,
  },
  programs: { servers: ['lm studio', 'lm-studio', 'lms', 'llmster'], workers: ['llmworker'] },
} as const satisfies ServerKind;

/** Its REST API has `models[].key` since 0.4 and `data[].state` before; a refusal names it. */
async function isLmStudio(ask: Ask): Promise<boolean> {
  const { status, text } = await ask('/api/v1/models');
  if (status === 401 && text.includes('LM Studio')) return true;
  const newer = (await said(ask, '/api/v1/models'))?.['models'];
  if (Array.isArray(newer)) return asObjects(newer).every((model) => 'key' in model);
  const older = asObjects((await said(ask, '/api/v0/models'))?.['data']);
  return older.some((model) => asText(model['state']) !== null);
}
