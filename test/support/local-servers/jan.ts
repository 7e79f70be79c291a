/**
 * Jan: always requires a key, accepts only hosts that its owner trusts, and lists cloud models too.
 */
import type { FakeModelServer } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export const JAN_KEY = 'jan-key';

export function startJan(options: StandInOptions = {}): Promise<FakeModelServer> {
  const guard = keyed(options.apiKey ?? JAN_KEY, {
    refusal: { status: 401, body: 'Invalid or missing authorization token' },
    guards: (path) => path !== '/' && path !== '/openapi.json',
  });
  return startStandIn(options, {
    guard: (request) => {
      const host = (request.headers.host ?? '').split(':')[0];
      const isTrusted = host === 'localhost' || host === '127.0.0.1';
      return isTrusted ? guard(request) : UNTRUSTED;
    },
    routes: {
      '/v1/models': modelList([{ id: 'tiny' }, { id: 'claude', owned_by: 'anthropic' }], {
        owned_by: 'user',
      }),
    },
  });
}

const UNTRUSTED = { status: 403, body: 'Invalid host header' };
