/** Assembles the coordinator; `main` and the tests start the same object. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { SetupLink } from './accounts/setup-link.js';
import { serveAdmin } from './operations/admin-socket.js';
import { AssetLinks, assetLinkSecret } from './assets/asset-links.js';
import type { Config } from './config/config.js';
import { ConsoleCommands } from './operations/my/console-commands.js';
import type { Budget } from './core/usage/budget.js';
import { bodyBudget } from './core/usage/held-document.js';
import { Quotas } from './core/usage/quotas.js';
import { RateLimit } from './core/access/rate.js';
import { Relay } from './relay/relay.js';
import { Jobs } from './jobs/jobs.js';
import { expose, meterInto } from './exposition.js';
import type { Exposition } from './exposition.js';
import { addressOf } from './http/edge/address-limit.js';
import { createApp } from './http/edge/app.js';
import { Authentication } from './http/edge/authenticate.js';
import { JsonBodies, smallBodies } from './http/bodies/body.js';
import { LargeBodies } from './http/bodies/large-bodies.js';
import { ConsoleSessions, SessionCookie } from './http/accounts/browser-sessions.js';
import { LIVE_PATH, LiveHints } from './http/dashboard/live.js';
import { MemberReads } from './http/edge/member-reads.js';
import { DEVICE_TIMES } from './http/agents/devices.js';
import { readDownloads } from './http/agents/downloads.js';
import type { Downloads } from './http/agents/downloads.js';
import { readWebFiles } from './http/dashboard/web-files.js';
import type { WebFiles } from './http/dashboard/web-files.js';
import { LinkServer } from './links/link-server.js';
import { Registry } from './links/registry.js';
import { DOWNLOADS_FOLDER, WEB_FOLDER, programVersion } from './own-files.js';
import type { Store } from './store/port.js';
import { openStoreOnceFree } from './store/open.js';
import { refuseAddress } from './jobs/webhooks/receiver.js';
import type { ByteStore } from './assets/byte-store.js';
import { openByteStore } from './assets/folder-store.js';
import { AssetLibrary, assetLimits } from './assets/asset-library.js';
import { resultTranslator } from './http/answers/translated-answer.js';
import { lineReader } from './http/jobs/file-lines.js';
import { Spool } from './http/bodies/spool.js';
import { Uploads } from './http/bodies/upload.js';
import { DurationMeter } from './media/duration.js';
import type { Links } from './core/routing/links.js';
import { presentBatchDetail, writeJobDetail } from './http/jobs/present-job.js';
import { openWebhooks } from './jobs/webhooks/sender.js';
import type { AdminParts, SystemFacts } from './operations/operation.js';
import { createAdminAssets } from './assets/admin-assets.js';

export interface Coordinator {
  /** `http://127.0.0.1:7070`, with the actual port. */
  readonly address: string;
  /** The metrics' own port; null if they have none. */
  readonly metricsAddress: string | null;
  /** The set-up link of the first administrator; null if there is a member. */
  readonly setupLink: string | null;
  /** Lets current work finish, up to the configured time, then closes everything. */
  drain(): Promise<void>;
}

/**
 * Longer than the keep-alive of any proxy in front, which would otherwise send a POST into a
 * closing connection.
 */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 300_000;

/** The listen backlog: after a restart, a thousand agents connect within a second. */
const BACKLOG = 4_096;

/** Time for callers to read the rest of complete answers. */
const FLUSH_MS = 2_000;

/** The reconnect delay of agents after a restart. */
const RECONNECT_AFTER_MS = 1_000;

interface StartOptions {
  /** False: a commit blocks the event loop. For tests, in which the thread is most of the start. */
  readonly storeInThread?: boolean;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/** Opens the data folder and listens. Throws a `CommandError` if either is in use. */
export async function startCoordinator(
  config: Config,
  { storeInThread = true, clock = SYSTEM_CLOCK, ...given }: StartOptions = {},
): Promise<Coordinator> {
  const logger = given.logger ?? createLogger(config.logLevel, null, config.logFormat);
  const store = await openStoreOnceFree(config.dataDir, {
    databaseUrl: config.databaseUrl,
    inThread: storeInThread,
    now: clock.now,
    onUsageLost: (rows, reason) => logger.error({ rows, reason }, 'usage rows lost'),
  });
  try {
    return await assemble(config, { store, clock, logger });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What every part is built on. */
interface Base {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

async function assemble(config: Config, base: Base): Promise<Coordinator> {
  const { store, clock, logger } = base;
  const { now } = clock;
  const quotas = new Quotas((subject, at) => store.quotaUse(subject, at), now);
  const linking = { ...config, store, now, logger, quotas };
  const registry = new Registry(await store.listProviders(), linking);
  const relay = new Relay(registry, config);
  const authentication = new Authentication(store, clock);
  const counted = { providers: () => registry.providers(), callsInFlight: () => relay.underWay };
  const exposition = await expose(config, counted, base);
  const stores = openByteStores(config, base);
  // Called with a request, when the server already listens.
  const publicUrl = (): string => config.publicUrl ?? address;
  const sessions = new ConsoleSessions({ store, cookie: new SessionCookie(publicUrl), now });
  const ownOrigins = (): readonly string[] => [...new Set([publicUrl(), address])];
  const live = new LiveHints({ ...config, sessions, ownOrigins, logger });
  registry.onCapacity(live.capacityChanged);
  // One budget for calls and jobs together.
  const budget = bodyBudget(config);
  const large = new LargeBodies();
  const assetLinks = new AssetLinks({
    secret: await assetLinkSecret(config.dataDir),
    access: config.assetsAccess,
    lifetimeMs: config.assetsLinkMs,
    publicUrl,
    now,
  });
  const shared = { ...base, config, exposition, publicUrl, assetLinks, budget, quotas };
  const onMoved = live.jobsMoved;
  await store.startNode(now());
  // Before the queue starts, which uses it to decide who may serve a job.
  await followSharing(store, registry);
  const queued = openQueuedWork({ ...shared, ...stores, large, links: registry, onMoved });
  const { jobs } = queued;
  const findProvider = (token: string) => store.findProviderByToken(hashSecret(token));
  const links = new LinkServer({
    registry,
    timing: config,
    claims: jobs,
    now,
    logger,
    findProvider,
  });
  const setup = new SetupLink(config.dataDir, (await store.listMembers()).length > 0);
  let draining = false;
  const isDraining = (): boolean => draining;
  const handle = handlerOf({
    ...shared,
    registry,
    relay,
    jobs,
    authentication,
    sessions,
    console: new ConsoleCommands(() => adminParts),
    setup,
    stores,
    large,
    isDraining,
    ownOrigins,
    web: await readWebFiles(WEB_FOLDER),
    downloads: await readDownloads(config.downloadsDir ?? DOWNLOADS_FOLDER, logger),
  });
  const server = await listen(handle, config);
  server.on('upgrade', upgradesOf(links, live));
  exposition.watch(server, jobs);
  const address = addressOf(server, config.host);
  const adminParts = partsOfAdmin({ ...shared, ...stores, registry, jobs, setup, address, now });
  const parts = { links, live, relay, queued, registry, server, drainMs: config.drainMs };
  const admin = await serveAdmin(config.dataDir, adminParts).catch(async (error: unknown) => {
    // Otherwise the process would continue to listen with its database closed.
    await endCalls(parts);
    for (const part of [exposition, stores, large, authentication]) await part.close();
    throw error;
  });
  return {
    address,
    metricsAddress: exposition.address,
    setupLink: await setup.announce(publicUrl()),
    async drain() {
      draining = true;
      await endCalls(parts);
      const rest = [setup, admin, exposition, stores, large, authentication, store];
      for (const part of rest) await part.close();
    },
  };
}

/** Routes upgrades to the agents' links and the dashboard's tabs. */
function upgradesOf(links: LinkServer, live: LiveHints) {
  return (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const isLive = request.url?.split('?')[0] === LIVE_PATH;
    (isLive ? live : links).upgrade(request, stream, head);
  };
}

/** A change of shares takes effect before it is answered. */
async function followSharing(store: Store, registry: Registry): Promise<void> {
  store.watchSharing((facts) => registry.follow(facts));
  registry.follow(await store.sharingFacts());
}

interface HandlerParts extends Base {
  readonly config: Config;
  readonly budget: Budget;
  readonly quotas: Quotas;
  readonly large: LargeBodies;
  readonly registry: Registry;
  readonly relay: Relay;
  readonly jobs: Jobs;
  readonly authentication: Authentication;
  readonly sessions: ConsoleSessions;
  readonly console: ConsoleCommands;
  readonly setup: SetupLink;
  readonly exposition: Exposition;
  readonly stores: ByteStores;
  readonly isDraining: () => boolean;
  readonly publicUrl: () => string;
  readonly assetLinks: AssetLinks;
  readonly ownOrigins: () => readonly string[];
  readonly web: WebFiles | null;
  readonly downloads: Downloads | null;
}

function handlerOf(parts: HandlerParts): RequestListener {
  const { config, store, clock, registry, relay, jobs, exposition, stores, isDraining } = parts;
  const { uploads, library, durations } = stores;
  const bodies = new JsonBodies(config, parts);
  const meter = meterInto(parts, exposition, clock);
  const app = createApp({
    ...parts,
    rate: new RateLimit(config.rateLimitRequests, config.rateLimitWindowMs),
    reads: new MemberReads(),
    onRateLimited: () => exposition.rateLimited(),
    metrics: exposition.onMainPort,
    health: { isDraining, isWritable: () => store.isWritable() },
    inference: {
      relay,
      links: registry,
      isDraining,
      quotas: parts.quotas,
      meter,
      bodies,
      large: parts.large,
      uploads,
      limits: config,
      maxLineBytes: config.maxJsonBytes,
      timing: config,
      library,
      durations,
      assetLinks: parts.assetLinks,
      store,
      jobActions: config.asyncEnabled ? jobs : null,
      queueLimits: config,
      checkWebhook: (url) =>
        refuseAddress(url, { allowPrivate: config.webhookPrivate, publicUrl: config.publicUrl }),
    },
    small: smallBodies(),
    enrollment: {
      providerApproval: config.providerApproval,
      deviceTimes: DEVICE_TIMES,
      onReplaced: (providerId) => void registry.refuse(providerId, 'revoked'),
    },
    version: programVersion(),
    trustProxy: config.trustProxy,
  });
  const handle = app.callback();
  // Koa handles every error itself.
  return (request, response) => void handle(request, response);
}

interface CallParts {
  readonly links: LinkServer;
  readonly live: LiveHints;
  readonly relay: Relay;
  readonly queued: QueuedWork;
  readonly registry: Registry;
  readonly server: Server;
  readonly drainMs: number;
}

/** Lets current calls finish within the permitted time, and then closes every connection. */
async function endCalls(parts: CallParts): Promise<void> {
  const { links, live, relay, queued, registry, server, drainMs } = parts;
  links.close();
  live.close();
  const closed = closeServer(server);
  await queued.stop();
  await Promise.race([relay.drained(), elapsed(drainMs)]);
  relay.close();
  await registry.closeAll(RECONNECT_AFTER_MS);
  await queued.close();
  // After the links, which are connections of this server, too, and whose end must still be
  // reported to some callers.
  await Promise.race([closed, elapsed(FLUSH_MS)]);
  server.closeAllConnections();
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
    const { port, host } = config;
    server.once('error', failed).listen({ port, host, backlog: BACKLOG }, done);
  });
  return server;
}

/**
 * Accepts no new connection, and resolves when the last one has ended; idle ones are closed.
 */
async function closeServer(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

// Files on disk: uploads while their call runs, and generated files.
interface ByteStores {
  readonly uploads: Uploads;
  readonly files: ByteStore;
  readonly library: AssetLibrary;
  readonly durations: DurationMeter;
  close(): Promise<void>;
}

/** Requires the lock of the data folder. */
function openByteStores(config: Config, { store, clock: { now }, logger }: Base): ByteStores {
  const { dataDir, assetsMaxBytes: maxBytes, retentionMs } = config;
  const durations = new DurationMeter();
  const files = openByteStore(dataDir);
  const library = new AssetLibrary({ files, store, durations, maxBytes, retentionMs, now, logger });
  return {
    uploads: new Uploads(new Spool(join(dataDir, 'uploads'))),
    files,
    library,
    durations,
    async close() {
      await library.close();
      await durations.close();
    },
  };
}

// Jobs, and the webhooks about their end.
interface QueuedWorkParts extends Base {
  readonly config: Config;
  readonly links: Links;
  readonly library: AssetLibrary;
  readonly exposition: Exposition;
  readonly assetLinks: AssetLinks;
  /** Memory budget for answers, shared with calls. */
  readonly budget: Budget;
  readonly large: LargeBodies;
  readonly quotas: Quotas;
  /** A job of the member was created or changed its state. */
  readonly onMoved: (memberId: string | null) => void;
}

interface QueuedWork {
  readonly jobs: Jobs;
  /** Assigns no further jobs. */
  stop(): Promise<void>;
  /** All links must have ended before. */
  close(): Promise<void>;
}

function openQueuedWork(parts: QueuedWorkParts): QueuedWork {
  const { config, store, links, library, budget, exposition, assetLinks, clock, logger } = parts;
  const webhooks = openWebhooks({
    store,
    now: clock.now,
    logger,
    config,
    present: {
      // The operator's default, because no key is involved.
      job: (detail) =>
        writeJobDetail(detail, { urlOf: assetLinks.urlsFor(null), waiting: new Map() }),
      batch: (detail) => JSON.stringify(presentBatchDetail(detail)),
    },
  });
  // Delivers webhooks that an earlier process could not.
  webhooks.wake();
  const jobs = new Jobs({
    store,
    links,
    library,
    budget,
    quotas: parts.quotas,
    settings: config,
    translate: resultTranslator(store, parts.large),
    lines: lineReader({ ...parts, limits: config, maxLineBytes: config.maxJsonBytes }),
    clock,
    logger,
    onMoved: parts.onMoved,
    onEnded: (usage) => {
      webhooks.wake();
      if (usage !== null) exposition.observeJob(usage);
    },
  });
  return {
    jobs,
    stop: () => jobs.stop(),
    async close() {
      await jobs.close();
      await webhooks.close();
    },
  };
}

interface RunningParts {
  readonly config: Config;
  readonly store: Store;
  readonly files: ByteStore;
  readonly registry: Registry;
  readonly jobs: Jobs;
  readonly setup: SetupLink;
  readonly address: string;
  readonly now: () => number;
}

/** The context of the administrative operations of a running coordinator. */
function partsOfAdmin(running: RunningParts): AdminParts {
  const { config, store, files, registry, jobs, setup, address, now } = running;
  return {
    store,
    links: registry,
    assets: createAdminAssets(files, store),
    server: { address, publicUrl: config.publicUrl },
    system: systemFacts(config),
    // If the file of the set-up link cannot be removed, the link is invalid all the same.
    onMember: () => void setup.close().catch(() => {}),
    jobActions: jobs,
    retention: config,
    asyncEnabled: config.asyncEnabled,
    now,
  };
}

function systemFacts(config: Config): SystemFacts {
  const { retentionMs } = config;
  return {
    version: programVersion(),
    assetLimits: assetLimits(config.assetsMaxBytes),
    retentionMs,
    limits: {
      rate_limit_requests: config.rateLimitRequests,
      rate_limit_window_s: config.rateLimitWindowMs / 1_000,
      max_concurrent: config.maxConcurrent,
      max_queued: config.maxQueuedJobs,
      max_json_bytes: config.maxJsonBytes,
      max_body_memory_bytes: config.maxBodyMemoryBytes,
      max_images: config.maxImages,
      sync_wait_s: config.syncWaitMs / 1_000,
      sync_deadline_s: config.syncDeadlineMs / 1_000,
      job_max_attempts: config.jobMaxAttempts,
      provider_approval: config.providerApproval,
      assets_access: config.assetsAccess,
      assets_link_s: config.assetsLinkMs / 1_000,
    },
  };
}
