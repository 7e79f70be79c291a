/** The metrics' own port: `GET /metrics` and nothing else. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { Router } from '@koa/router';
import Koa from 'koa';
import { createServer } from 'node:http';
import { addressOf } from './address-limit.js';
import type { RequestState } from './context.js';
import { identify, tidyPath } from './edge.js';
import { errorBoundary } from './errors.js';
import { metricsRoutes } from './metrics.js';
import type { MetricsAccess } from './metrics.js';

export interface MetricsServer {
  readonly address: string;
  /** Current answers are cut: Prometheus scrapes again. */
  close(): Promise<void>;
}

interface ListenOn {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
}

/** What the log lines of requests need. */
interface Observing {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rejects with Node's own error if listening fails. */
export async function serveMetrics(
  access: MetricsAccess,
  { host, port }: ListenOn,
  observing: Observing,
): Promise<MetricsServer> {
  const handle = createMetricsApp(access, observing).callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(port, host, done);
  });
  // If the rest of the coordinator fails to start, this port must not keep the process alive.
  server.unref();
  return {
    address: addressOf(server, host),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function createMetricsApp(access: MetricsAccess, { clock, logger }: Observing): Koa<RequestState> {
  const app = new Koa<RequestState>();
  const router = new Router<RequestState>();
  metricsRoutes(router, access);
  app.on('error', (error: Error) => logger.debug({ reason: error.message }, 'answer broke'));
  app.use(identify(logger, clock));
  app.use(tidyPath);
  app.use(errorBoundary(logger));
  app.use(router.routes());
  app.use((ctx) => {
    throw new ApiError('unknown_url', `There is nothing at ${ctx.path}. See GET /metrics.`);
  });
  return app;
}
