/** ACE-Step, as a kind of local server. */
import { asObject } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { AceStepBackend } from './backend.js';

export const KIND = {
  name: 'ace-step',
  soleType: 'music',
  create: (service) => new AceStepBackend(service),
  fingerprint: {
    server: 'ACE-Step',
    type: 'music',
    path: '',
    matches: isAceStep,
  },
  programs: { scripts: ['ace-step*', 'acestep*'] },
} as const satisfies ServerKind;

async function isAceStep(ask: Ask): Promise<boolean> {
  return asObject((await said(ask, '/health'))?.['data'])?.['service'] === 'ACE-Step API';
}
