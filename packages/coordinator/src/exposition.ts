/**
 * Connects the metrics to the coordinator: their sources, and where they are exposed. Nothing is
 * counted unless a setting enables them.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { programVersion } from './own-files.js';
import { statfs } from 'node:fs/promises';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { nodeNameOf } from './config/config.js';
import type { Config } from './config/config.js';
import { serveMetrics } from './http/edge/metrics-server.js';
import type { MetricsServer } from './http/edge/metrics-server.js';
import type { MetricsAccess } from './http/edge/metrics.js';
import { Metrics } from './metrics/metrics.js';
import type { MetricsParts, NodeParts, RelayedCalls } from './metrics/metrics.js';
import type { GatewayState } from './metrics/state-metrics.js';
import { lastBackupAt } from './operations/system.js';
import type { UsageRow, Store } from './store/port.js';
import { sourceOf } from './core/access/caller.js';
import type { Reservations } from './core/usage/quotas.js';
import { usageNumbers } from './core/usage/usage-bounds.js';
import type { Metered } from './core/usage/usage-bounds.js';
import type { Call, Outcome } from './run/work.js';
import type { Measures } from './assets/measures.js';

type ExposedConfig = Pick<
  Config,
  | 'host'
  | 'metricsPort'
  | 'metricsToken'
  | 'dataDir'
  | 'assetsMaxBytes'
  | 'databaseUrl'
  | 'nodeName'
>;

interface Observing {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells when it last ran. */
interface Ticking {
  readonly lastTickAt: number | null;
}

/** The other coordinators, and the calls that pass between them and this one. */
type Neighbours = { readonly linked: ReadonlyMap<string, boolean>; readonly relayed: RelayedCalls };

/** Listens if the metrics have their own port; rejects if listening fails. */
export async function expose(
  config: ExposedConfig,
  parts: Omit<MetricsParts, 'version' | 'state' | 'node'>,
  observing: Observing,
): Promise<Exposition> {
  const { host, metricsPort: port, metricsToken: token } = config;
  if (token === null && port === null) return new Exposition(NOTHING);
  const late = new LateSources();
  const state = stateReader(config, { ...observing, dispatcher: late });
  const node = config.databaseUrl === null ? null : late.nodeParts(nodeNameOf(config));
  const metrics = new Metrics({ ...parts, state, version: programVersion(), node });
  const access = { source: metrics, token };
  const server = port === null ? null : await serveMetrics(access, { host, port }, observing);
  const onMainPort = token === null ? null : access;
  return new Exposition({ metrics, onMainPort, server, late });
}

interface Exposed {
  /** Null: nothing is counted. */
  readonly metrics: Metrics | null;
  /** The metrics for the main port; null without a token: any caller may look local there. */
  readonly onMainPort: MetricsAccess | null;
  /** Null: the metrics have no port of their own. */
  readonly server: MetricsServer | null;
  readonly late: LateSources;
}

/** Sources that are built after the metrics' port listens. */
class LateSources implements Ticking {
  dispatcher: Ticking | null = null;
  nodes: Neighbours | null = null;

  get lastTickAt(): number | null {
    return this.dispatcher?.lastTickAt ?? null;
  }

  nodeParts(name: string): NodeParts {
    const linked = () => this.nodes?.linked ?? new Map<string, boolean>();
    return { name, linked, relayed: () => this.nodes?.relayed ?? { in: 0, out: 0 } };
  }
}

const NOTHING: Exposed = {
  metrics: null,
  onMainPort: null,
  server: null,
  late: new LateSources(),
};

export class Exposition {
  /** The metrics for the main port; null without a token: any caller may look local there. */
  readonly onMainPort: MetricsAccess | null;
  readonly #metrics: Metrics | null;
  readonly #server: MetricsServer | null;
  readonly #late: LateSources;

  constructor({ metrics, onMainPort, server, late }: Exposed) {
    this.#metrics = metrics;
    this.onMainPort = onMainPort;
    this.#server = server;
    this.#late = late;
  }

  /** The metrics' own port; null if they have none. */
  get address(): string | null {
    return this.#server?.address ?? null;
  }

  /** See `Metrics.observe`. */
  observe(...call: Parameters<Metrics['observe']>): void {
    this.#metrics?.observe(...call);
  }

  /** The same for the row of an ended job. */
  observeJob(row: UsageRow): void {
    this.#metrics?.observe({ stream: false }, row, 'job');
  }

  rateLimited(): void {
    this.#metrics?.rateLimited();
  }

  /** Counts every answer of this server, on all routes, and tells of the other sources. */
  watch(server: Server, dispatcher: Ticking, nodes: Neighbours | null): void {
    const metrics = this.#metrics;
    if (metrics === null) return;
    this.#late.dispatcher = dispatcher;
    this.#late.nodes = nodes;
    server.on('request', (_, response) => {
      response.once('close', () => {
        metrics.answered(response.headersSent ? response.statusCode : null);
      });
    });
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}

// What a scrape reads from the store and the disk.

/** A scrape does not wait longer for it: a scraper would take the whole gateway for dead. */
const STATE_LIMIT_MS = 3_000;

/** Without a member: the sum of all is the same for each. */
const ANYBODY = '';

/** Reads in the store's thread, from its counters and indexes, and the disk asynchronously. */
function stateReader(
  config: ExposedConfig,
  parts: Observing & { readonly dispatcher: Ticking },
): () => Promise<GatewayState | null> {
  return async () => {
    const late = new AbortController();
    const limit = pause(STATE_LIMIT_MS, null, { signal: late.signal, ref: false }).catch(
      () => null,
    );
    const read = readState(config, parts).catch((err: unknown) => {
      parts.logger.warn({ err }, 'metrics of the queue and the disk cannot be read now');
      return null;
    });
    const state = await Promise.race([read, limit]);
    late.abort();
    return state;
  };
}

async function readState(
  { dataDir, assetsMaxBytes }: ExposedConfig,
  { store, clock, dispatcher }: Observing & { readonly dispatcher: Ticking },
): Promise<GatewayState> {
  const [queues, isQueuePaused, backupAt, { totalBytes }, database, disk] = await Promise.all([
    store.modelQueues(null),
    store.isQueuePaused(),
    lastBackupAt(store),
    store.assetSpace(ANYBODY),
    store.databaseFacts(),
    statfs(dataDir),
  ]);
  return {
    queues,
    isQueuePaused,
    lastTickAt: dispatcher.lastTickAt,
    lastBackupAt: backupAt,
    databaseBytes: database.bytes,
    walBytes: database.logBytes,
    assetBytes: totalBytes,
    assetBytesLimit: assetsMaxBytes,
    disk: { bytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize },
    now: clock.now(),
  };
}

// The record of an ended call: a usage row, and metrics from it.

type Counting = Pick<Reservations, 'count'>;

type Meter = (work: Call, outcome: Outcome, measures: Measures) => void;

/** Row, quotas and metrics are updated at the same moment, so that they always agree. */
export function meterInto(
  { store, quotas }: { readonly store: Pick<Store, 'recordUsage'>; readonly quotas: Counting },
  exposition: Exposition,
  { now }: Clock,
): Meter {
  return (work, outcome, measures) => {
    const write = (metered: Metered): void => {
      const row = toUsageRow(work, outcome, { ...measures, metered, at: now() });
      store.recordUsage([row]);
      quotas.count(row);
      exposition.observe(work, row);
    };
    if (outcome.metered instanceof Promise) void outcome.metered.then(write);
    else write(outcome.metered);
  };
}

function toUsageRow(
  work: Call,
  outcome: Outcome,
  measured: Measures & { readonly metered: Metered; readonly at: number },
): UsageRow {
  const { metered, at } = measured;
  const { queueMs, firstByteMs, totalMs } = outcome;
  return {
    requestId: work.requestId,
    at,
    memberId: work.caller.memberId,
    keyId: work.caller.keyId,
    providerId: outcome.providerId,
    shareId: outcome.shareId ?? null,
    model: work.model,
    alias: work.alias?.name ?? null,
    serviceType: ENDPOINTS[work.endpoint].serviceType,
    endpoint: work.endpoint,
    ...usageNumbers({ ...measured, ...metered, queueMs, firstByteMs, totalMs }),
    attempts: outcome.attempts,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    source: sourceOf(work.caller.keyId),
  };
}
