/**
 * Connects the metrics to the coordinator: their sources, and where they are exposed. Nothing is
 * counted unless a setting enables them.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { programVersion } from './own-files.js';
import type { Server } from 'node:http';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { Config } from './config/config.js';
import { serveMetrics } from './http/edge/metrics-server.js';
import type { MetricsServer } from './http/edge/metrics-server.js';
import type { MetricsAccess } from './http/edge/metrics.js';
import { Metrics } from './metrics/metrics.js';
import type { MetricsParts } from './metrics/metrics.js';
import type { UsageRow, Store } from './store/port.js';
import { sourceOf } from './core/access/caller.js';
import type { Reservations } from './core/usage/quotas.js';
import { usageNumbers } from './core/usage/usage-bounds.js';
import type { MeteredTokens } from './core/usage/usage-bounds.js';
import type { Call, Outcome } from './run/work.js';
import type { Measures } from './assets/measures.js';

type ExposedConfig = Pick<Config, 'host' | 'metricsPort' | 'metricsToken'>;

/** Listens if the metrics have their own port; rejects if listening fails. */
export async function expose(
  config: ExposedConfig,
  parts: Omit<MetricsParts, 'version'>,
  observing: { readonly clock: Clock; readonly logger: Logger },
): Promise<Exposition> {
  const { host, metricsPort: port, metricsToken: token } = config;
  if (token === null && port === null) return new Exposition(null, null, null);
  const metrics = new Metrics({ ...parts, version: programVersion() });
  const access = { source: metrics, token };
  const server = port === null ? null : await serveMetrics(access, { host, port }, observing);
  return new Exposition(metrics, token === null ? null : access, server);
}

export class Exposition {
  /** The metrics for the main port; null without a token: any caller may look local there. */
  readonly onMainPort: MetricsAccess | null;
  readonly #metrics: Metrics | null;
  readonly #server: MetricsServer | null;

  constructor(
    metrics: Metrics | null,
    onMainPort: MetricsAccess | null,
    server: MetricsServer | null,
  ) {
    this.#metrics = metrics;
    this.onMainPort = onMainPort;
    this.#server = server;
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
    this.#metrics?.observe({ stream: false }, row);
  }

  rateLimited(): void {
    this.#metrics?.rateLimited();
  }

  /** Counts every answer of this server, on all routes. */
  watch(server: Server): void {
    const metrics = this.#metrics;
    if (metrics === null) return;
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
    const write = (tokens: MeteredTokens): void => {
      const row = toUsageRow(work, outcome, { ...measures, tokens, at: now() });
      store.recordUsage([row]);
      quotas.count(row);
      exposition.observe(work, row);
    };
    if (outcome.tokens instanceof Promise) void outcome.tokens.then(write);
    else write(outcome.tokens);
  };
}

function toUsageRow(
  work: Call,
  outcome: Outcome,
  { tokens, at, ...measures }: Measures & { readonly tokens: MeteredTokens; readonly at: number },
): UsageRow {
  const { queueMs, firstByteMs, totalMs } = outcome;
  return {
    requestId: work.requestId,
    at,
    memberId: work.caller.memberId,
    keyId: work.caller.keyId,
    providerId: outcome.providerId,
    shareId: outcome.shareId ?? null,
    model: work.model,
    serviceType: ENDPOINTS[work.endpoint].serviceType,
    endpoint: work.endpoint,
    ...usageNumbers({ ...tokens, ...measures, queueMs, firstByteMs, totalMs }),
    attempts: outcome.attempts,
    outcome: outcome.kind,
    errorCode: outcome.error?.code ?? null,
    source: sourceOf(work.caller.keyId),
  };
}
