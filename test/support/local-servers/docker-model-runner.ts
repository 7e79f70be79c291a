/** Docker Model Runner: OpenAI's API under its own path. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** It has no API keys. */
export function startDockerModelRunner(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    routes: {
      '/': raw({
        headers: { 'content-type': 'text/plain' },
        body: 'Docker Model Runner is running',
      }),
      '/models': [{ id: 'sha256:1', tags: ['tiny'], created: 1 }],
      '/engines/ps': [{ backend_name: 'llama.cpp', model_name: 'tiny', mode: 'completion' }],
      '/engines/status': { running: true },
      '/engines/v1/models': modelList([{ id: 'tiny' }], { owned_by: 'docker' }),
    },
  });
}
