/** Stable Diffusion web UI, as a kind of local server. */
import { wantsKeyAt } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { Automatic1111Backend } from './backend.js';

export const KIND = {
  name: 'automatic1111',
  soleType: 'image',
  create: (service) => new Automatic1111Backend(service),
  fingerprint: {
    server: 'Stable Diffusion web UI',
    type: 'image',
    path: '',
    matches: isWebUi,
    wantsKey: (ask) => wantsKeyAt(ask, '/sdapi/v1/sd-models'),
  },
  programs: { scripts: ['stable-diffusion-webui*', 'sd.next', 'sdnext', 'automatic'] },
} as const satisfies ServerKind;

/** Behind a password, its API's paths are 401 and those that it does not have are 404. */
async function isWebUi(ask: Ask): Promise<boolean> {
  const { status, json } = await ask('/sdapi/v1/sd-models');
  if (status === 401) return (await ask('/v1/models')).status === 404;
  return status === 200 && Array.isArray(json);
}
