/** Builds and joins every part of the coordinator; `main` and the tests start the same object. */
import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveAdmin } from './admin/server.js';
import type { Config } from './config.js';
import { RateLimit } from './core/rate.js';
import { Direct } from './dispatch/direct.js';
import type { Outcome, Work } from './dispatch/work.js';
import { createApp } from './http/app.js';
import { Authentication } from './http/authenticate.js';
import { JsonBodies } from './http/body.js';
import { LinkServer } from './links/link-server.js';
import { Registry } from './links/registry.js';
import type { Store, UsageRow } from './store/port.js';
import { openStore } from './store/open.js';

export interface Coordinator {
  /** `http://127.0.0.1:7070`, with the port that was given. */
  readonly address: string;
  /** Lets work under way finish, up to the configured time, then closes everything. */
  drain(): Promise<void>;
}

/**
 * Longer than any proxy in front keeps its own: or it would send a POST into a closing
 * connection.
 */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** How long callers may take to fetch the rest of answers that are whole. */
const FLUSH_MS = 2_000;
/** More tokens than any one call can have. */
const MAX_TOKENS = 10_000_000;
/** When agents come back after a restart. */
const RECONNECT_AFTER_MS = 1_000;

/** Opens the data folder and listens. Throws a `CommandError` where either is taken. */
export async function startCoordinator(config: Config): Promise<Coordinator> {
  const logger = createLogger(config.logLevel);
  const store = await openStore(config.dataDir, {
    onUsageLost: (rows, reason) => logger.error({ rows, reason }, 'usage rows lost'),
  });
  try {
    return await assemble(config, store, logger);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(config: Config, store: Store, logger: Logger): Promise<Coordinator> {
  const registry = new Registry(await store.listProviders(), store, logger);
  const direct = new Direct(registry, config);
  const authentication = new Authentication(store);
  const links = new LinkServer({
    registry,
    timing: config,
    logger,
    findProvider: (token) => store.findProviderByToken(hashSecret(token)),
  });
  let draining = false;
  const isDraining = (): boolean => draining;
  const app = createApp({
    logger,
    authentication,
    rate: new RateLimit(config.rateLimitRequests, config.rateLimitWindowMs),
    health: { isDraining, isWritable: () => store.isWritable() },
    inference: {
      direct,
      sessions: registry,
      bodies: new JsonBodies(config),
      timing: config,
      isDraining,
      meter: (work, outcome) => meter(store, work, outcome),
    },
    store,
    trustProxy: config.trustProxy,
  });
  const handle = app.callback();
  // Koa answers every error itself, so that its promise is never rejected.
  const server = await listen((request, response) => void handle(request, response), config);
  server.on('upgrade', links.upgrade);
  const address = addressOf(server, config.host);
  const admin = await serveAdmin(config.dataDir, {
    store,
    sessions: registry,
    server: { address, publicUrl: config.publicUrl },
  });
  return {
    address,
    async drain() {
      draining = true;
      links.close();
      const closed = closeServer(server);
      await Promise.race([direct.drained(), elapsed(config.drainMs)]);
      direct.close();
      await registry.closeAll(RECONNECT_AFTER_MS);
      // After the links: they are connections of this server, too, and their end is what some
      // callers are still to be told.
      await Promise.race([closed, elapsed(FLUSH_MS)]);
      server.closeAllConnections();
      await admin.close();
      await authentication.close();
      await store.close();
    },
  };
}

async function listen(handler: RequestListener, config: Config): Promise<Server> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      noDelay: true,
    },
    handler,
  );
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen(config.port, config.host, done);
  });
  return server;
}

/**
 * Takes no new connection, and resolves when the last one has ended; idle ones are ended as they
 * fall idle.
 */
async function closeServer(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function meter(store: Pick<Store, 'recordUsage'>, work: Work, outcome: Outcome): void {
  const { usage } = outcome;
  const row: UsageRow = {
    requestId: work.requestId,
    at: Date.now(),
    memberId: work.caller.memberId,
    keyId: work.caller.keyId,
    providerId: outcome.providerId,
    model: work.model,
    serviceType: ENDPOINTS[work.endpoint].serviceType,
    endpoint: work.endpoint,
    promptTokens: clampTokens(usage?.prompt_tokens),
    completionTokens: clampTokens(usage?.completion_tokens),
    queueMs: outcome.queueMs,
    firstByteMs: outcome.firstByteMs,
    totalMs: Math.round(performance.now() - work.receivedAt),
    attempts: outcome.attempts,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    source: 'api',
  };
  store.recordUsage([row]);
}

/** An agent's word on usage is hostile: nonsense must not spoil a member's sums. */
function clampTokens(tokens = 0): number {
  return Math.min(tokens, MAX_TOKENS);
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
