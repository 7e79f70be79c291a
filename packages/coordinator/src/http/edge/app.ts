/** The HTTP application, in the order in which a request passes through it. */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { Router } from '@koa/router';
import Koa from 'koa';
import { PasswordQueue } from '../../accounts/password-queue.js';
import type { Oidc } from '../../accounts/oidc.js';
import type { Passkeys } from '../../accounts/passkeys.js';
import type { SetupLink } from '../../accounts/setup-link.js';
import type { ConsoleCommands } from '../../operations/my/console-commands.js';
import type { LogInLimit } from '../../core/access/log-in-throttle.js';
import type { Rate } from '../../core/access/rate.js';
import type { Store } from '../../store/port.js';
import { isOpenedByLink, readAssetLink } from '../assets/asset-access.js';
import type { SmallBodies } from '../bodies/body.js';
import type { Authentication } from './authenticate.js';
import { consoleCalls } from '../dashboard/console-calls.js';
import type { ConsoleSessions } from '../accounts/browser-sessions.js';
import type { Middleware, RequestState } from './context.js';
import { cors, hintAtProxy, identify, isPublicApi, nameRequest, tidyPath } from './edge.js';
import { entityTags } from './entity-tags.js';
import { errorBoundary } from './errors.js';
import { LogIn } from '../accounts/log-in.js';
import type { MemberReads } from './member-reads.js';
import { narrowScope, rateLimit } from './authenticate.js';
import { agentRoutes } from '../agents/agents.js';
import type { AgentParts } from '../agents/agents.js';
import { assetRoutes } from '../assets/assets.js';
import { fileRoutes } from '../assets/files.js';
import type { FileRouteParts } from '../assets/files.js';
import { consoleRoutes } from '../dashboard/console.js';
import { feedRoutes } from '../dashboard/feed.js';
import type { FeedParts } from '../dashboard/feed.js';
import { downloadRoutes } from '../agents/downloads.js';
import type { Downloads } from '../agents/downloads.js';
import { deviceRoutes } from '../agents/devices.js';
import type { DeviceTimes } from '../agents/devices.js';
import { enrollRoutes } from '../agents/enroll.js';
import type { EnrollParts } from '../agents/enroll.js';
import { healthRoutes, openapiRoutes } from './health.js';
import { metricsRoutes } from './metrics.js';
import type { MetricsAccess } from './metrics.js';
import type { Health } from './health.js';
import { batchRoutes } from '../jobs/batches.js';
import type { BatchRouteParts } from '../jobs/batches.js';
import { tokenCountRoutes } from '../inference/count-tokens.js';
import { inferenceRoutes } from '../inference/inference.js';
import type { InferenceParts } from '../inference/inference.js';
import { joinRoutes } from '../accounts/join.js';
import { responseRoutes } from '../jobs/responses.js';
import { jobRoutes } from '../jobs/jobs.js';
import type { ResponseStore } from '../jobs/responses.js';
import type { JobRouteParts } from '../jobs/jobs.js';
import { modelRoutes } from '../inference/models.js';
import { oidcRoutes } from '../accounts/oidc.js';
import { passkeyRoutes } from '../accounts/passkeys.js';
import { passwordRoutes } from '../accounts/password.js';
import { queueRoutes } from '../jobs/queue-summary.js';
import { sessionRoutes } from '../accounts/sessions.js';
import { setupRoutes } from '../accounts/setup.js';
import { unrouted } from './unrouted.js';
import { web } from '../dashboard/web.js';
import { sameOrigin } from './same-origin.js';
import { asyncDisabled } from '../jobs/submit-job.js';
import type { QueueParts } from '../jobs/queue-summary.js';
import type { WebFiles } from '../dashboard/web-files.js';

/** Dependencies of joining and logging in. */
type Accounts = Pick<Store, 'by' | 'findPassword' | 'findInvite'> &
  Pick<Store, 'findPasskey' | 'logInByPasskey'>;
/** Dependencies of the agents' API. */
type AgentAccess = AgentParts['store'];
/** Dependencies of the routes of jobs, batches and the queue. */
type JobReads = JobRouteParts['store'] &
  BatchRouteParts['store'] &
  FileRouteParts['store'] &
  QueueParts['store'] &
  ResponseStore;

type Enrollment = Omit<EnrollParts, 'store' | 'bodies'> & { readonly deviceTimes: DeviceTimes };

export interface AppParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly authentication: Authentication;
  readonly rate: Rate;
  readonly logIns: LogInLimit;
  readonly reads: MemberReads;
  /** A request was refused by the rate limit. */
  readonly onRateLimited: () => void;
  /** Null: no `/metrics` on this port. */
  readonly metrics: MetricsAccess | null;
  readonly inference: InferenceParts & Pick<FileRouteParts, 'maxLineBytes'>;
  /** For all other bodies. */
  readonly small: SmallBodies;
  /** The origin that callers use. Called late: the port is known once the server listens. */
  readonly publicUrl: () => string;
  readonly health: Health;
  readonly store: Accounts & AgentAccess & JobReads & FeedParts['store'];
  /** Sessions, which the live signals also use. */
  readonly sessions: ConsoleSessions;
  /** Operations of the dashboard besides the API. */
  readonly console: ConsoleCommands;
  /** Set-up of the first administrator. */
  readonly setup: SetupLink;
  readonly passkeys: Passkeys;
  /** Null: no OpenID provider is configured. */
  readonly oidc: Oidc | null;
  readonly enrollment: Enrollment;
  /** Version of this program. */
  readonly version: string;
  /** Origins of pages that may use a session; called for each request. */
  readonly ownOrigins: () => readonly string[];
  /** The dashboard; null if it has not been built. */
  readonly web: WebFiles | null;
  /** What is handed out for machines with GPUs; null if nothing is. */
  readonly downloads: Downloads | null;
  /** How many proxies' `X-Forwarded-For` to believe. */
  readonly trustProxy: number;
}

export function createApp(parts: AppParts): Koa<RequestState> {
  const app = new Koa<RequestState>({
    proxy: parts.trustProxy > 0,
    maxIpsCount: parts.trustProxy,
  });
  // Only a reset by the caller in the middle of an answer passes the error boundary.
  app.on('error', (error: Error) => parts.logger.debug({ reason: error.message }, 'answer broke'));
  app.use(
    inOrder([
      identify(parts.logger, parts.clock),
      ...(parts.trustProxy === 0 ? [hintAtProxy(parts.logger)] : []),
      tidyPath,
      nameRequest,
      cors,
      errorBoundary(parts.logger),
      forPages([
        sameOrigin(parts.ownOrigins),
        web({ files: parts.web, ownOrigins: parts.ownOrigins, sessions: parts.sessions }),
        entityTags,
        readAssetLink(parts.inference.assetLinks),
        consoleCalls(parts),
      ]),
      forCallers([
        parts.authentication.middleware,
        rateLimit(parts.rate, parts.onRateLimited),
        narrowScope,
        parts.reads.middleware,
      ]),
    ]),
  );
  const router = createRouter(parts);
  app.use(fixedRoutes(router));
  app.use(router.routes());
  app.use(unrouted(router));
  return app;
}

/** The routes without parameters, by their path: the router would try one after the other. */
function fixedRoutes(router: Router<RequestState>): Middleware {
  const handlers = new Map<string, Middleware>();
  for (const { path, methods, stack } of router.stack) {
    if (typeof path !== 'string' || !/^[\w/.-]+$/.test(path)) continue;
    for (const method of methods) {
      const key = `${method} ${path}`;
      if (!handlers.has(key)) handlers.set(key, inOrder(stack as Middleware[]));
    }
  }
  return (ctx, next) => (handlers.get(`${ctx.method} ${ctx.path}`) ?? toNext)(ctx, next);
}

const toNext: Middleware = (_, next) => next();

/** All routes, without the middleware before them. */
export function createRouter(parts: AppParts): Router<RequestState> {
  // Case-sensitive, as the middleware before: `/API/console/…` must not bypass the rules of
  // `/api/console/…`.
  const router = new Router<RequestState>({ sensitive: true });
  healthRoutes(router, parts.health);
  if (parts.metrics !== null) metricsRoutes(router, parts.metrics);
  const { store, small, version, inference } = parts;
  const bodies = small.strangers;
  enrollRoutes(router, { ...parts.enrollment, store, bodies });
  const { providerApproval, deviceTimes: times } = parts.enrollment;
  deviceRoutes(router, { store, bodies, providerApproval, times, publicUrl: parts.publicUrl });
  const { downloads, publicUrl } = parts;
  downloadRoutes(router, { downloads, publicUrl, stallMs: inference.timing.stallMs });
  const { now } = parts.clock;
  agentRoutes(router, { store, version, links: inference.links, bodies: small.known, now });
  const logIn = accountRoutes(router, parts);
  const { sessions, console: commands, reads } = parts;
  consoleRoutes(router, { bodies: small.known, sessions, commands, reads, logIn });
  feedRoutes(router, { store, links: inference.links, publicUrl });
  openapiRoutes(router, parts.publicUrl);
  modelRoutes(router, parts.inference.links);
  inferenceRoutes(router, parts.inference);
  tokenCountRoutes(router, parts.inference);
  assetRoutes(router, parts.inference);
  queueRoutes(router, { ...parts.inference, store: parts.store });
  asyncRoutes(router, parts);
  return router;
}

/** Joining and logging in: their password hashes share one queue, and their delays one count. */
function accountRoutes(router: Router<RequestState>, parts: AppParts): LogIn {
  const { store, small, sessions, setup, passkeys, oidc, version, publicUrl } = parts;
  const agentVersion = parts.downloads?.release.version ?? null;
  const bodies = small.strangers;
  const passwords = new PasswordQueue();
  const logIn = new LogIn(store, passwords, parts.logIns);
  const ways = { store, bodies, logIn, sessions, setup, passkeys, oidc, publicUrl };
  joinRoutes(router, { store, bodies, passwords, setup, publicUrl });
  setupRoutes(router, { store, bodies, passwords, sessions, setup });
  sessionRoutes(router, { ...ways, version, agentVersion });
  passkeyRoutes(router, ways);
  oidcRoutes(router, ways);
  passwordRoutes(router, { ...ways, passwords, bodies: small.known, strangers: bodies });
  return logIn;
}

/** Specification, Async submission 7: if it is disabled, its endpoints return that error. */
function asyncRoutes(router: Router<RequestState>, { inference, store }: AppParts): void {
  const { jobActions } = inference;
  if (jobActions === null) {
    router.all(/^\/v1\/((jobs|batches|files)(\/.*)?|responses\/.+)$/, () => {
      throw asyncDisabled();
    });
    return;
  }
  jobRoutes(router, { ...inference, jobActions, store });
  batchRoutes(router, { ...inference, jobActions, store });
  responseRoutes(router, { jobActions, store });
  fileRoutes(router, { ...inference, store });
}

/** One after the other, as by `app.use`, without a promise for each. */
function inOrder([first, ...others]: readonly Middleware[]): Middleware {
  if (first === undefined) return toNext;
  const rest = inOrder(others);
  return (ctx, next) => first(ctx, () => rest(ctx, next));
}

/** For pages and their files, which calls at `/v1` skip. */
function forPages(middlewares: readonly Middleware[]): Middleware {
  const middleware = inOrder(middlewares);
  return (ctx, next) => (ctx.path.startsWith('/v1/') ? next() : middleware(ctx, next));
}

/** A caller has a key or a session, or a signed link to an asset. */
function forCallers(middlewares: readonly Middleware[]): Middleware {
  const middleware = inOrder(middlewares);
  return (ctx, next) => {
    const isCall = isPublicApi(ctx.path) && !isOpenedByLink(ctx);
    return isCall ? middleware(ctx, next) : next();
  };
}
