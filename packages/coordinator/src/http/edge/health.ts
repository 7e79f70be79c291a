/** Health checks: `/healthz` (the process is alive) and `/readyz` (it can serve). */
import { ApiError } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import { createDocument } from '../../openapi/document.js';
import { CALL_KINDS } from '../inference/kinds.js';
import type { RequestState } from './context.js';

export interface Health {
  isDraining(): boolean;
  isWritable(): Promise<boolean>;
}

export function healthRoutes(router: Router<RequestState>, health: Health): void {
  router.get('/', (ctx) => {
    ctx.body = { name: 'inference-gateway', api: '/v1' };
  });
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    if (health.isDraining()) throw new ApiError('shutting_down', 'The gateway is shutting down.');
    if (!(await health.isWritable())) {
      throw new ApiError('storage_unavailable', 'The database takes no writes. Look at its disk.');
    }
    ctx.body = { status: 'ready' };
  });
}

// `GET /openapi.json`: the API description, without a key.

/** `publicUrl` is called with the first request: the port is known only once the server listens. */
export function openapiRoutes(router: Router<RequestState>, publicUrl: () => string): void {
  let written: Buffer | null = null;
  router.get('/openapi.json', (ctx) => {
    written ??= Buffer.from(JSON.stringify(createDocument(publicUrl(), CALL_KINDS)));
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = written;
  });
}
