/** Which program makes which local server usable, by the names that the configuration uses. */
import type { Backend, ServiceConfig } from './backend.js';
import { LlamaServerBackend } from './llama-server.js';
import { OllamaBackend } from './ollama.js';
import { OpenAiBackend } from './openai.js';

export const BACKENDS = ['openai', 'ollama', 'llama-server'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Throws for a name that is not one of `BACKENDS`; the configuration has refused it by then. */
export function createBackend(service: ServiceConfig): Backend {
  const { backend, id } = service;
  if (isBackend(backend)) return CREATORS[backend](service);
  throw new Error(
    `backend "${backend}" of service ${id} is unknown. Use one of ${BACKENDS.join(', ')}.`,
  );
}

const CREATORS: Record<BackendName, (service: ServiceConfig) => Backend> = {
  openai: (service) => new OpenAiBackend(service),
  ollama: (service) => new OllamaBackend(service),
  'llama-server': (service) => new LlamaServerBackend(service),
};

function isBackend(name: string): name is BackendName {
  return (BACKENDS as readonly string[]).includes(name);
}
