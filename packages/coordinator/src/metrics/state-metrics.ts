/**
 * The gateway's state at the moment of a scrape: queue, space, backup. Unlike the other gauges,
 * these values are read from the store and the disk.
 */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import { Gauge, Registry } from 'prom-client';
import type { ModelQueue } from '../store/port.js';

/** Times are in Unix ms. */
export interface GatewayState {
  /** Of all members. */
  readonly queues: readonly ModelQueue[];
  readonly isQueuePaused: boolean;
  /** The last successful tick of the dispatcher; null before the first. */
  readonly lastTickAt: number | null;
  /** Null: no backup is known. */
  readonly lastBackupAt: number | null;
  readonly databaseBytes: number;
  /** The write-ahead log, which grows while a long read keeps it from being written back. */
  readonly walBytes: number;
  readonly assetBytes: number;
  readonly assetBytesLimit: number;
  /** Of the file system that holds the data folder. */
  readonly disk: { readonly bytes: number; readonly freeBytes: number };
  readonly now: number;
}

export class StateMetrics {
  // Without a state, this registry is left out: a gauge cannot be without a value.
  readonly #registry = new Registry();
  readonly #jobs = new Gauge({
    name: 'gateway_jobs',
    help: 'Jobs that have not ended, queued or processing.',
    labelNames: ['service_type', 'state'],
    registers: [this.#registry],
  });
  readonly #oldest = this.#gauge(
    'gateway_oldest_queued_job_age_seconds',
    'How long the oldest queued job has waited; 0 if none is queued.',
  );
  readonly #paused = this.#gauge('gateway_queue_paused', '1 while the queue is paused, else 0.');
  readonly #tick = this.#gauge(
    'gateway_dispatcher_last_tick_timestamp_seconds',
    'When the dispatcher of jobs last ran without an error; it runs every second.',
  );
  readonly #backup = this.#gauge(
    'gateway_last_backup_timestamp_seconds',
    'When the last backup was made; 0 if none is known.',
  );
  readonly #database = new Gauge({
    name: 'gateway_database_bytes',
    help: 'Size of the database and of its write-ahead log.',
    labelNames: ['file'],
    registers: [this.#registry],
  });
  readonly #assets = this.#gauge(
    'gateway_assets_bytes',
    'Generated files and files of batches that are kept for members.',
  );
  readonly #assetsLimit = this.#gauge(
    'gateway_assets_limit_bytes',
    'Space for these files: GATEWAY_ASSETS_MAX_GB.',
  );
  readonly #disk = this.#gauge('gateway_disk_bytes', 'Size of the disk with the data folder.');
  readonly #diskFree = this.#gauge(
    'gateway_disk_free_bytes',
    'Space on this disk that the coordinator may still use.',
  );

  setDefaultLabels(labels: Readonly<Record<string, string>>): void {
    this.#registry.setDefaultLabels(labels);
  }

  /** In Prometheus' text format; empty without a state. */
  async text(state: GatewayState | null): Promise<string> {
    if (state === null) return '';
    this.#setQueue(state);
    this.#tick.set((state.lastTickAt ?? 0) / 1000);
    this.#backup.set((state.lastBackupAt ?? 0) / 1000);
    this.#database.set({ file: 'database' }, state.databaseBytes);
    this.#database.set({ file: 'wal' }, state.walBytes);
    this.#assets.set(state.assetBytes);
    this.#assetsLimit.set(state.assetBytesLimit);
    this.#disk.set(state.disk.bytes);
    this.#diskFree.set(state.disk.freeBytes);
    return this.#registry.metrics();
  }

  #setQueue({ queues, isQueuePaused, now }: GatewayState): void {
    for (const type of SERVICE_TYPES) {
      const own = queues.filter(({ serviceType }) => serviceType === type);
      for (const state of ['queued', 'processing'] as const) {
        const count = own.reduce((sum, queue) => sum + queue[state], 0);
        this.#jobs.set({ service_type: type, state }, count);
      }
    }
    const oldest = Math.min(now, ...queues.flatMap(({ oldestQueuedAt }) => oldestQueuedAt ?? []));
    this.#oldest.set((now - oldest) / 1000);
    this.#paused.set(isQueuePaused ? 1 : 0);
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.#registry] });
  }
}
