/** Ollama, with the models that a test names. */
import { answer } from '../fake-behaviours.js';
import { startFakeServer } from '../fake-model-server.js';
import type { FakeModelServer } from '../fake-model-server.js';
import { row } from '../fake-openai-server.js';
import type { FakeOpenAiOptions } from '../fake-openai-server.js';

/** A model's row may add `capabilities`, `remote_host` and so on. */
export function startFakeOllama(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const { models = ['tiny:latest'], routes, ...rest } = options;
  const told = { capabilities: ['completion', 'tools'] };
  const tags = models.map((model) => {
    const { id, ...facts } = row(model, told);
    return { name: id, model: id, digest: `sha256:${id}`, ...facts };
  });
  return startFakeServer({
    behaviour: answer(),
    ...rest,
    routes: {
      '/': 'Ollama is running',
      '/api/version': { version: '0.12.0' },
      '/api/tags': { models: tags },
      '/api/ps': { models: [] },
      ...routes,
    },
  });
}
