/** `GET /api/inference/queue/summary`. */
import type Router from '@koa/router';
import { callerOf } from '../edge/context.js';
import type { RequestState } from '../edge/context.js';
import { summarizeQueue } from './queue-summary.js';
import type { QueueParts } from './queue-summary.js';

export function queueRoutes(router: Router<RequestState>, parts: QueueParts): void {
  router.get('/api/inference/queue/summary', async (ctx) => {
    ctx.body = await summarizeQueue(parts, callerOf(ctx), Date.now());
  });
}
