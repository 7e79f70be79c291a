/** Jan, as a kind of local server. */
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { JAN } from './dialect.js';

export const KIND = {
  name: 'jan',
  create: speaking(JAN),
  fingerprint: {
    server: 'Jan',
    type: 'llm',
    path: '/v1',
    matches: isJan,
  },
  programs: { servers: ['jan'] },
} as const satisfies ServerKind;

/** Nothing in what it says names it but how it says no, and it always wants a key. */
async function isJan(ask: Ask): Promise<boolean> {
  const { status, text } = await ask('/v1/models');
  return status === 401 && text.includes('Invalid or missing authorization token');
}
