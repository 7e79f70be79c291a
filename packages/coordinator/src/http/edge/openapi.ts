/** `GET /openapi.json`: the interface described, for tools. It takes no key. */
import type Router from '@koa/router';
import { createDocument } from '../../openapi/document.js';
import type { RequestState } from './context.js';

/** `publicUrl` is asked for with the first call: the port is known only once the server listens. */
export function openapiRoutes(router: Router<RequestState>, publicUrl: () => string): void {
  let written: Buffer | null = null;
  router.get('/openapi.json', (ctx) => {
    written ??= Buffer.from(JSON.stringify(createDocument(publicUrl())));
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = written;
  });
}
