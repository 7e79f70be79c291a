/** mlx-lm lists every model of the Hugging Face cache, loaded or not. */
import type { FakeModelServer } from '../fake-model-server.js';
import { modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** It has no API keys. */
export function startMlxLm(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    headers: { server: 'BaseHTTP/0.6 Python/3.12.4' },
    routes: {
      '/health': { status: 'ok' },
      '/v1/models': modelList([{ id: 'mlx-community/tiny' }, { id: 'mlx-community/other' }], {}),
    },
  });
}
