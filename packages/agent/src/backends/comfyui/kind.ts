/** ComfyUI, as a kind of local server. */
import { asObject, asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { ComfyUiBackend } from './backend.js';

export const KIND = {
  name: 'comfyui',
  create: (service) => new ComfyUiBackend(service),
  fingerprint: {
    server: 'ComfyUI',
    type: 'image',
    path: '',
    matches: isComfyUi,
  },
  programs: { scripts: ['comfyui'] },
} as const satisfies ServerKind;

async function isComfyUi(ask: Ask): Promise<boolean> {
  const system = asObject((await said(ask, '/system_stats'))?.['system']);
  return asText(system?.['comfyui_version']) !== null;
}
