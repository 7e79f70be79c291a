/** The HTTP side, in the order in which a request passes through it. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { RateLimit } from '../core/rate.js';
import type { Store } from '../store/port.js';
import type { Authentication } from './authenticate.js';
import type { Context, Middleware, RequestState } from './context.js';
import { cors, identify, isPublicApi, tidyPath } from './edge.js';
import { errorBoundary } from './errors.js';
import { narrowScope } from './provider-scope.js';
import { rateLimit } from './rate-limit.js';
import { enrollRoutes } from './routes/enroll.js';
import { healthRoutes } from './routes/health.js';
import type { Health } from './routes/health.js';
import { asyncDisabled, inferenceRoutes } from './routes/inference.js';
import type { InferenceParts } from './routes/inference.js';
import { modelRoutes } from './routes/models.js';

export interface AppParts {
  readonly logger: Logger;
  readonly authentication: Authentication;
  readonly rate: RateLimit;
  readonly inference: InferenceParts;
  readonly health: Health;
  readonly store: Pick<Store, 'enroll'>;
  /** How many proxies' `X-Forwarded-For` to believe. */
  readonly trustProxy: number;
}

export function createApp(parts: AppParts): Koa<RequestState> {
  const app = new Koa<RequestState>({
    proxy: parts.trustProxy > 0,
    maxIpsCount: parts.trustProxy,
  });
  // Whatever gets past the boundary is a reset by the caller in the middle of an answer.
  app.on('error', (error: Error) => parts.logger.debug({ reason: error.message }, 'answer broke'));
  app.use(identify(parts.logger));
  app.use(tidyPath);
  app.use(cors);
  app.use(errorBoundary(parts.logger));
  app.use(onPublicApi(parts.authentication.middleware));
  app.use(onPublicApi(rateLimit(parts.rate)));
  app.use(onPublicApi(narrowScope));
  app.use(createRouter(parts).routes());
  app.use(unrouted);
  return app;
}

function createRouter(parts: AppParts): Router<RequestState> {
  const router = new Router<RequestState>();
  healthRoutes(router, parts.health);
  enrollRoutes(router, parts.store);
  modelRoutes(router, parts.inference.sessions);
  inferenceRoutes(router, parts.inference);
  router.all(/^\/v1\/(jobs|batches)(\/.*)?$/, () => {
    throw asyncDisabled();
  });
  return router;
}

function onPublicApi(middleware: Middleware): Middleware {
  return (ctx, next) => (isPublicApi(ctx.path) ? middleware(ctx, next) : next());
}

/** No route took the request: the path is unknown, or known by other methods. */
const unrouted: Middleware = (ctx: Context & { matched?: readonly { methods: string[] }[] }) => {
  const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
  if (methods.size === 0) {
    const message = `There is nothing at ${ctx.path}. The API is below /v1; see GET /v1/models.`;
    throw new ApiError('unknown_url', message);
  }
  const allowed = [...methods].join(', ');
  const message = `${ctx.method} is not possible on ${ctx.path}. Use ${allowed}.`;
  throw new ApiError('method_not_allowed', message, { headers: { Allow: allowed } });
};
