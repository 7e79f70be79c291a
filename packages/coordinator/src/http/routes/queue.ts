/** `GET /api/inference/queue/summary`. */
import type Router from '@koa/router';
import { callerOf } from '../context.js';
import type { RequestState } from '../context.js';
import { summarizeQueue } from '../summarize-queue.js';
import type { QueueParts } from '../summarize-queue.js';

export function queueRoutes(router: Router<RequestState>, parts: QueueParts): void {
  router.get('/api/inference/queue/summary', async (ctx) => {
    ctx.body = await summarizeQueue(parts, callerOf(ctx), Date.now());
  });
}
