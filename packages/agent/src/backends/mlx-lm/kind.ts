/** mlx-lm, as a kind of local server. */
import { listOf, listsModels, said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import { speaking } from '../openai/backend.js';
import type { ServerKind } from '../server-kind.js';
import { MLX_LM } from './dialect.js';

export const KIND = {
  name: 'mlx-lm',
  soleType: 'llm',
  create: speaking(MLX_LM),
  fingerprint: {
    server: 'mlx-lm',
    type: 'llm',
    path: '/v1',
    matches: isMlxLm,
  },
  programs: { scripts: ['mlx_lm*'] },
} as const satisfies ServerKind;

/** As healthy as llama-server, without its header, and nobody owns its models. */
async function isMlxLm(ask: Ask): Promise<boolean> {
  if ((await said(ask, '/health'))?.['status'] !== 'ok') return false;
  if (!(await listsModels(ask, '/v1/models'))) return false;
  return (await listOf(ask)).every((model) => !('owned_by' in model));
}
