/** `GET /models` and `GET /models/{id}`: answered from memory, never by asking agents. */
import { ApiError } from '@inference-gateway/shared/errors';
import { nearest } from '@inference-gateway/shared/nearest';
import type Router from '@koa/router';
import type { Sessions } from '../../core/routing/links.js';
import { callerOf } from '../edge/context.js';
import type { RequestState } from '../edge/context.js';
import { presentModels } from './present.js';

export function modelRoutes(router: Router<RequestState>, sessions: Sessions): void {
  router.get('/v1/models', (ctx) => {
    ctx.body = { object: 'list', data: presentModels(sessions.providers(), callerOf(ctx)) };
  });

  // Ids hold slashes, raw or percent-encoded: `org/Model:7b`.
  router.get(/^\/v1\/models\/(.+)$/, (ctx) => {
    const id = decode(ctx.path.slice('/v1/models/'.length));
    const models = presentModels(sessions.providers(), callerOf(ctx));
    const model = models.find((candidate) => candidate.id === id);
    if (model === undefined)
      throw unknownModel(
        id,
        models.map((candidate) => candidate.id),
      );
    ctx.body = model;
  });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function unknownModel(id: string, online: readonly string[]): ApiError {
  const near = nearest(id, online).map((name) => `'${name}'`);
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ' GET /models lists them.';
  const message = `The model '${id}' is not online for you.${hint}`;
  return new ApiError('model_not_found', message, { param: 'model' });
}
