/** Ollama, as a kind of local server. */
import { asObject, asText } from '../../openai-wire/json.js';
import { said } from '../detection/signs.js';
import type { Ask } from '../detection/signs.js';
import type { ServerKind } from '../server-kind.js';
import { OllamaBackend } from './backend.js';

export const KIND = {
  name: 'ollama',
  soleType: 'llm',
  create: (service, tools) => new OllamaBackend(service, tools),
  fingerprint: {
    server: 'Ollama',
    type: 'llm',
    path: '',
    matches: isOllama,
  },
  programs: { servers: ['ollama'], workers: ['ollama_llama_server'] },
} as const satisfies ServerKind;

/** An Ollama without models has an empty list. */
async function isOllama(ask: Ask): Promise<boolean> {
  if (asText((await said(ask, '/api/version'))?.['version']) === null) return false;
  const models = (await said(ask, '/api/tags'))?.['models'];
  return Array.isArray(models) && models.every((model) => 'digest' in (asObject(model) ?? {}));
}
