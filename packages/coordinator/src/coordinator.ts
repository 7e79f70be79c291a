/** Assembles the coordinator; `main` and the tests start the same object. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { SetupLink } from './accounts/setup-link.js';
import { openLogInMethods } from './accounts/log-in-methods.js';
import type { LogInMethods } from './accounts/log-in-methods.js';
import { serveAdmin } from './operations/admin-socket.js';
import { openAssetLinks } from './assets/asset-links.js';
import type { AssetLinks } from './assets/asset-links.js';
import { callerLimits, nodeNameOf, oidcSettings } from './config/config.js';
import type { Config } from './config/config.js';
import { ConsoleCommands } from './operations/my/console-commands.js';
import type { Budget } from './core/usage/budget.js';
import { bodyBudget } from './core/usage/held-document.js';
import type { Reservations } from './core/usage/quotas.js';
import type { JobHint } from './core/jobs/hint.js';
import { openLimits } from './limits/limits.js';
import type { Limits } from './limits/limits.js';
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
import { closeServer, listen } from './http/edge/server.js';
import { readWebFiles } from './http/dashboard/web-files.js';
import type { WebFiles } from './http/dashboard/web-files.js';
import { LinkServer } from './links/link-server.js';
import { Registry } from './links/registry.js';
import { openNodes } from './nodes/nodes.js';
import type { Nodes } from './nodes/nodes.js';
import { DOWNLOADS_FOLDER, WEB_FOLDER, programVersion } from './own-files.js';
import type { Store } from './store/port.js';
import { isOtherDatabase, openStoreOnceFree } from './store/open.js';
import { refuseAddress } from './jobs/webhooks/receiver.js';
import type { ByteStore } from './assets/byte-store.js';
import { openFilesToServe } from './assets/open-files.js';
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
  /** Resolves with the reason if another coordinator has taken the place of this one. */
  readonly ended: Promise<string>;
  /** Lets current work finish, up to the configured time, then closes everything. */
  drain(): Promise<void>;
}

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
  const isOneOfMany = config.databaseUrl !== null;
  const plain = given.logger ?? createLogger(config.logLevel, null, config.logFormat);
  const logger = isOneOfMany ? plain.child({ node: nodeNameOf(config) }) : plain;
  let tellEnded: ((reason: string) => void) | undefined;
  const ended = new Promise<string>((resolve) => (tellEnded = resolve));
  const store = await openStoreOnceFree(config.dataDir, {
    databaseUrl: config.databaseUrl,
    nodeName: nodeNameOf(config),
    inThread: storeInThread,
    now: clock.now,
    onUsageLost: (rows, reason) => logger.error({ rows, reason }, 'usage rows lost'),
    onEnded: (reason) => {
      logger.fatal({ reason }, 'draining and stopping: this coordinator has lost its database');
      tellEnded?.(reason);
    },
    onClockWarning: (warning) => logger.warn(warning),
  });
  try {
    return { ...(await assemble(config, { store, clock, logger })), ended };
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

async function assemble(config: Config, base: Base): Promise<Omit<Coordinator, 'ended'>> {
  const { store, clock, logger } = base;
  const { now } = clock;
  const files = await openFilesToServe(config, { store, now, isOther: isOtherDatabase(config) });
  const limits = openLimits(config, { store, clock });
  const { quotas } = limits;
  const linking = { ...config, store, now, logger, quotas };
  const registry = new Registry(await store.listProviders(), linking);
  const isCurrent = (): boolean => store.isCurrent();
  const relay = new Relay(registry, config, { slots: limits.slots, isCurrent });
  const authentication = new Authentication(store, clock);
  const counted = { providers: () => registry.providers(), callsInFlight: () => relay.underWay };
  const exposition = await expose(config, counted, base);
  const stores = openByteStores(config, files, base);
  // Called with a request, when the server already listens.
  const publicUrl = (): string => config.publicUrl ?? address;
  const sessions = new ConsoleSessions({ store, cookie: new SessionCookie(publicUrl), now });
  const ownOrigins = (): readonly string[] => [...new Set([publicUrl(), address])];
  const live = new LiveHints({ ...config, sessions, ownOrigins, logger });
  registry.onCapacity(live.capacityChanged);
  // One budget for calls and jobs together.
  const budget = bodyBudget(config);
  const large = new LargeBodies();
  const assetLinks = await openAssetLinks(config, { store, now, publicUrl });
  const logInMethods = await openLogInMethods(oidcSettings(config), {
    ...config,
    ...base,
    now,
    publicUrl,
  });
  const shared = { ...base, config, exposition, publicUrl, assetLinks, budget, quotas, limits };
  const onMoved = (memberId: string | null): void => {
    live.jobsMoved(memberId);
    nodes?.hint({ moved: memberId });
  };
  const onHint = (hint: JobHint): void => nodes?.hint(hint);
  await store.startNode(now());
  const onHinted = (hint: JobHint): void => {
    if (hint.moved !== undefined) live.jobsMoved(hint.moved);
    jobs.hinted(hint);
  };
  const onDraining = (isLeaving: boolean): void => registry.setLeaving(isLeaving);
  const around = { ...shared, registry, relay, now, isCurrent };
  const nodes = openNodes(config, { ...around, onHint: onHinted, onDraining });
  await nodes?.join();
  // Before the queue starts, which uses it to decide who may serve a job.
  await followSharing(store, registry);
  const queued = openQueuedWork({ ...shared, ...stores, large, links: registry, onMoved, onHint });
  const { jobs } = queued;
  const links = openLinks(config, base, { registry, claims: jobs });
  await nodes?.start();
  const setup = await SetupLink.open(config, store, now());
  let draining = false;
  const isDraining = (): boolean => draining;
  const handle = handlerOf({
    ...shared,
    registry,
    relay,
    jobs,
    authentication,
    sessions,
    console: new ConsoleCommands(() => adminParts, logInMethods.passkeys),
    logInMethods,
    setup,
    stores,
    large,
    isDraining,
    nodes,
    ownOrigins,
    web: await readWebFiles(WEB_FOLDER),
    downloads: await readDownloads(config.downloadsDir ?? DOWNLOADS_FOLDER, logger),
  });
  const server = await listen(handle, config);
  server.on('upgrade', upgradesOf(links, live));
  exposition.watch(server, jobs, nodes);
  const address = addressOf(server, config.host);
  const running = { ...shared, nodes, ...stores, registry, jobs, setup, address, now, live };
  const adminParts = partsOfAdmin(running);
  const parts = { nodes, links, live, relay, queued, registry, server, drainMs: config.drainMs };
  const admin = await serveAdmin(config.dataDir, adminParts).catch(async (error: unknown) => {
    // Otherwise the process would continue to listen with its database closed.
    await endCalls(parts);
    for (const part of [exposition, stores, large, authentication, limits]) await part.close();
    throw error;
  });
  return {
    address,
    metricsAddress: exposition.address,
    setupLink: await setup.announce(publicUrl()),
    async drain() {
      draining = true;
      await endCalls(parts);
      const rest = [setup, admin, exposition, stores, large, authentication, limits, store];
      for (const part of rest) await part.close();
    },
  };
}

function openLinks(
  timing: Config,
  { store, clock: { now }, logger }: Base,
  parts: { readonly registry: Registry; readonly claims: Jobs },
): LinkServer {
  const findProvider = (token: string) => store.findProviderByToken(hashSecret(token));
  return new LinkServer({ ...parts, timing, now, logger, findProvider });
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
  readonly quotas: Reservations;
  readonly limits: Limits;
  readonly large: LargeBodies;
  readonly registry: Registry;
  readonly relay: Relay;
  readonly jobs: Jobs;
  readonly authentication: Authentication;
  readonly sessions: ConsoleSessions;
  readonly console: ConsoleCommands;
  readonly setup: SetupLink;
  readonly logInMethods: LogInMethods;
  readonly exposition: Exposition;
  readonly stores: ByteStores;
  readonly isDraining: () => boolean;
  readonly nodes: Nodes | null;
  readonly publicUrl: () => string;
  readonly assetLinks: AssetLinks;
  readonly ownOrigins: () => readonly string[];
  readonly web: WebFiles | null;
  readonly downloads: Downloads | null;
}

function handlerOf(parts: HandlerParts): RequestListener {
  const { config, store, clock, registry, relay, jobs, exposition, stores, nodes } = parts;
  const { isDraining } = parts;
  const { uploads, library, durations } = stores;
  const bodies = new JsonBodies(config, parts);
  const meter = meterInto(parts, exposition, clock);
  const app = createApp({
    ...parts,
    ...parts.logInMethods,
    rate: parts.limits.rate,
    logIns: parts.limits.logIns,
    reads: new MemberReads(),
    onRateLimited: () => exposition.rateLimited(),
    metrics: exposition.onMainPort,
    health: { store, isDraining, isOnServer: config.databaseUrl !== null, nodes },
    inference: {
      relay,
      links: registry,
      isDraining,
      isCurrent: () => store.isCurrent(),
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
  readonly nodes: Nodes | null;
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
  const { nodes, links, live, relay, queued, registry, server, drainMs } = parts;
  links.close();
  live.close();
  const closed = closeServer(server);
  await queued.stop();
  await Promise.race([Promise.all([relay.drained(), nodes?.drain()]), elapsed(drainMs)]);
  relay.close();
  await nodes?.close();
  await registry.closeAll(RECONNECT_AFTER_MS);
  await queued.close();
  // After the links, which are connections of this server, too, and whose end must still be
  // reported to some callers.
  await Promise.race([closed, elapsed(FLUSH_MS)]);
  server.closeAllConnections();
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
function openByteStores(config: Config, files: ByteStore, base: Base): ByteStores {
  const isPrivate = config.databaseUrl !== null && config.filesUrl === null;
  const durations = new DurationMeter();
  const parts = { ...config, ...base, now: base.clock.now, files, durations, isPrivate };
  const library = new AssetLibrary({ ...parts, maxBytes: config.assetsMaxBytes });
  return {
    uploads: new Uploads(new Spool(join(config.dataDir, 'uploads'))),
    files,
    library,
    durations,
    async close() {
      await library.close();
      await durations.close();
      files.close();
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
  readonly quotas: Reservations;
  /** A job of the member was created or changed its state. */
  readonly onMoved: (memberId: string | null) => void;
  /** What other coordinators would find out by polling. */
  readonly onHint: (hint: JobHint) => void;
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
    onHint: parts.onHint,
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
  readonly nodes: Nodes | null;
  readonly config: Config;
  readonly store: Store;
  readonly files: ByteStore;
  readonly registry: Registry;
  readonly jobs: Jobs;
  readonly setup: SetupLink;
  readonly address: string;
  readonly now: () => number;
  readonly live: LiveHints;
}

/** The context of the administrative operations of a running coordinator. */
function partsOfAdmin(running: RunningParts): AdminParts {
  const { config, store, files, registry, jobs, nodes, setup, address, now, live } = running;
  return {
    store,
    links: registry,
    ...(nodes !== null && { linkedNodes: () => nodes.linked }),
    assets: createAdminAssets(() => files, store),
    server: { address, publicUrl: config.publicUrl },
    system: systemFacts(config),
    // If the file of the set-up link cannot be removed, the link is invalid all the same.
    onMember: () => void setup.close().catch(() => {}),
    onModels: live.modelsMoved,
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
    limits: callerLimits(config),
  };
}
