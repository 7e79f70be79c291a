/**
 * Everything that this machine serves at the moment: each configured service is asked every 10 s,
 * leaves when it stops answering and returns when it answers again.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Backend, Description, ServiceConfig } from './backend.js';
import { NO_TOOLS } from './create-backend.js';
import type { BackendTools } from './create-backend.js';
import { takeSnapshot } from './snapshot.js';
import { WatchedServer } from './watched-server.js';

export interface CatalogOptions {
  readonly pollMs?: number;
  readonly describeTimeoutMs?: number;
  readonly logger?: Logger;
  readonly tools?: BackendTools;
}

/** A configured service, for its owner. */
export interface ServiceStatus {
  readonly id: string;
  readonly type: ServiceType;
  readonly backend: string;
  readonly baseUrl: string;
  readonly state: 'starting' | 'up' | 'down';
  /** Since when, in milliseconds since 1970. */
  readonly since: number;
  /** Why it is down. */
  readonly reason: string | null;
  /** The ids that it serves now. */
  readonly models: readonly string[];
  readonly slots: number;
}

/** A service that is up, for whoever runs work on it. */
export interface CatalogEntry {
  readonly config: ServiceConfig;
  readonly backend: Backend;
  readonly type: ServiceType;
  readonly slots: number;
  readonly slotGroup: string | null;
  readonly models: readonly AdvertisedModel[];
}

const POLL_MS = 10_000;
const DESCRIBE_TIMEOUT_MS = 5_000;
/** How long the start waits for local servers; those that answer later come in later. */
const FIRST_ROUND_MS = 3_000;

export class Catalog {
  readonly #watched: readonly WatchedServer[];
  readonly #logger: Logger | null;
  readonly #listeners = new Set<() => void>();
  #services: AdvertisedService[] = [];
  #fingerprint = '[]';
  #leftOut = '';

  constructor(services: readonly ServiceConfig[], options: CatalogOptions = {}) {
    const { pollMs = POLL_MS, describeTimeoutMs = DESCRIBE_TIMEOUT_MS } = options;
    this.#logger = options.logger ?? null;
    const logger = this.#logger;
    const { tools = NO_TOOLS } = options;
    const watch = { pollMs, describeTimeoutMs, logger, tools, onAnswer: () => this.#refresh() };
    this.#watched = services.map((config) => new WatchedServer(config, watch));
  }

  /** Resolves once every service has answered or failed to, and after 3 s in any case. */
  async start(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_ROUND_MS);
    });
    const all = Promise.all(this.#watched.map((service) => service.watch()));
    await Promise.race([all, enough]);
    clearTimeout(timer);
  }

  /** What is told to the coordinator: services that are up, without paths of this machine. */
  services(): AdvertisedService[] {
    return this.#services;
  }

  status(): readonly ServiceStatus[] {
    return this.#watched.map(statusOf);
  }

  /** The services that are up. */
  entries(): readonly CatalogEntry[] {
    return this.#watched.flatMap(entryOf);
  }

  /** Undefined while the service is not up. */
  find(serviceId: string): CatalogEntry | undefined {
    return this.entries().find(({ config }) => config.id === serviceId);
  }

  /** A request was refused its connection. */
  lost(serviceId: string, reason: string): void {
    this.#watched.find(({ config }) => config.id === serviceId)?.lost(reason);
  }

  /** Calls back whenever `services()` has become another list. Returns how to stop it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const service of this.#watched) service.close();
    this.#listeners.clear();
  }

  #refresh(): void {
    const { services, leftOut } = takeSnapshot(this.entries());
    const fingerprint = JSON.stringify(services);
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.#services = services;
    this.#warn(leftOut);
    for (const listener of this.#listeners) listener();
  }

  #warn(leftOut: readonly string[]): void {
    const models = leftOut.join(', ');
    if (models === this.#leftOut) return;
    this.#leftOut = models;
    if (leftOut.length === 0) return;
    this.#logger?.warn(
      { count: leftOut.length, first: leftOut[0], limit: LINK.maxModels },
      'models left out: the list is full. Name the wanted ones with "models" in the configuration.',
    );
  }
}

function statusOf({ config, state }: WatchedServer): ServiceStatus {
  const { id, type, backend, baseUrl } = config;
  const description = state.kind === 'up' ? state.description : null;
  return {
    id,
    type,
    backend,
    baseUrl,
    state: state.kind,
    since: state.since,
    reason: state.kind === 'down' ? state.reason : null,
    models: description?.models.map((model) => model.id) ?? [],
    slots: slotsOf(config, description),
  };
}

function entryOf({ config, backend, state }: WatchedServer): CatalogEntry[] {
  if (state.kind !== 'up') return [];
  const { type, slotGroup } = config;
  const { models } = state.description;
  return [{ config, backend, type, slotGroup, models, slots: slotsOf(config, state.description) }];
}

function slotsOf(config: ServiceConfig, description: Description | null): number {
  const slots = config.slots ?? description?.slots ?? 1;
  return Math.min(Math.max(slots, 1), LINK.maxStreams);
}
