/**
 * Everything that this machine serves now: the agent polls each configured service every 10 s. A
 * service leaves when it stops answering and returns when it answers again. A model that needs a
 * proof is offered only after it.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Backend, Description, ServiceConfig } from '../backend.js';
import { NO_TOOLS } from '../create-backend.js';
import type { BackendTools } from '../create-backend.js';
import { findSubject } from '../proving/find-subject.js';
import type { Wanted } from '../proving/find-subject.js';
import { Prover } from '../proving/prover.js';
import type { ProvingOptions } from '../proving/prover.js';
import type { Subject, Trial } from '../proving/try-model.js';
import { takeSnapshot } from './snapshot.js';
import { subjectsOf, WatchedServer } from './watched-server.js';

export interface CatalogOptions {
  readonly pollMs?: number;
  readonly describeTimeoutMs?: number;
  readonly logger?: Logger;
  /** Unix ms; default: the system's clock. */
  readonly now?: () => number;
  readonly tools?: BackendTools;
  /** Absent: nothing is proven, so models that need a proof are never offered. */
  readonly proving?: ProvingOptions;
  /** How long the start waits for local servers; a server that answers later joins later. */
  readonly firstRoundMs?: number;
}

/** A model that is not offered to callers. */
export interface HeldBack {
  readonly id: string;
  readonly state: 'proving' | 'failed';
  /** Why the proof failed. */
  readonly reason: string | null;
}

/** A configured service, as its owner sees it. */
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
  /** The ids that it offers now. */
  readonly models: readonly string[];
  /** Its other models. */
  readonly heldBack: readonly HeldBack[];
  readonly slots: number;
}

/** A service that is up, for the code that runs work on it. */
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
const FIRST_ROUND_MS = 3_000;

/** The result of a tiny question to a model. */
export interface TestedModel extends Trial {
  readonly service: string;
  readonly type: ServiceType;
  readonly model: string;
}

export class Catalog {
  readonly #watched: readonly WatchedServer[];
  readonly #prover: Prover;
  readonly #firstRoundMs: number;
  readonly #now: () => number;
  readonly #logger: Logger | null;
  readonly #listeners = new Set<() => void>();
  /** Computed at the last answer or verdict: every piece of work reads it. */
  #entries: readonly CatalogEntry[] = [];
  #services: AdvertisedService[] = [];
  #fingerprint = '[]';
  #leftOut = '';

  constructor(services: readonly ServiceConfig[], options: CatalogOptions = {}) {
    const { pollMs = POLL_MS, describeTimeoutMs = DESCRIBE_TIMEOUT_MS } = options;
    this.#logger = options.logger ?? null;
    const logger = this.#logger;
    const { tools = NO_TOOLS, now = SYSTEM_CLOCK.now } = options;
    this.#now = now;
    const onAnswer = (): void => this.#refresh();
    const watch = { pollMs, describeTimeoutMs, logger, tools, now, onAnswer };
    this.#watched = services.map((config) => new WatchedServer(config, watch));
    this.#firstRoundMs = options.firstRoundMs ?? FIRST_ROUND_MS;
    this.#prover = new Prover(options.proving ?? {}, {
      logger,
      now,
      subjects: () => this.#watched.flatMap(subjectsOf),
      changed: () => this.#refresh(),
      unreachable: (id, reason) => this.lost(id, reason),
    });
  }

  /** Resolves once every service has answered or failed, but after 3 s at the latest. */
  async start(): Promise<void> {
    await this.#prover.restore();
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#firstRoundMs);
    });
    const all = Promise.all(this.#watched.map((service) => service.watch()));
    await Promise.race([all, enough]);
    clearTimeout(timer);
  }

  /** For the coordinator: services that are up, without paths of this machine. */
  services(): AdvertisedService[] {
    return this.#services;
  }

  status(): readonly ServiceStatus[] {
    return this.#watched.map((watched) => statusOf(watched, this.#prover));
  }

  /** The services that are up, with the models that they offer. */
  entries(): readonly CatalogEntry[] {
    return this.#entries;
  }

  /**
   * The `performance.now()` since which no model is being proven or tested, which also uses the
   * card; null during a proof or test.
   */
  get idleSince(): number | null {
    return this.#prover.idleSince;
  }

  /**
   * Asks one model a tiny question now and applies the result. Throws a `CommandError` if there is
   * no such model, or its server does not answer.
   */
  async test(wanted: Wanted): Promise<TestedModel> {
    const subject = findSubject(this.#watched, wanted);
    const { config, model } = subject;
    const trial = await this.#prover.test(subject, wanted.limitMs);
    return { service: config.id, type: config.type, model: model.id, ...trial };
  }

  /** False: the owner needs the card. An interrupted proof is retried later. */
  letProve(may: boolean): void {
    if (may) this.#prover.consider();
    else this.#prover.interrupt();
  }

  /** Undefined while the service is not up. */
  find(serviceId: string): CatalogEntry | undefined {
    return this.#entries.find(({ config }) => config.id === serviceId);
  }

  /** A request could not connect. */
  lost(serviceId: string, reason: string): void {
    this.#watched.find(({ config }) => config.id === serviceId)?.lost(reason);
  }

  /** The models of these services have changed. */
  lookSoon(serviceIds: readonly string[]): void {
    for (const one of this.#watched) if (serviceIds.includes(one.config.id)) one.lookSoon();
  }

  /** Calls `listener` after each change of `services()`. Returns a function that stops this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#prover.close();
    for (const service of this.#watched) service.close();
    this.#listeners.clear();
  }

  #refresh(): void {
    this.#entries = this.#watched.flatMap((watched) => entryOf(watched, this.#prover));
    const { services, leftOut } = takeSnapshot(this.#entries, this.#now());
    const fingerprint = JSON.stringify(services);
    if (fingerprint !== this.#fingerprint) {
      this.#fingerprint = fingerprint;
      this.#services = services;
      this.#warn(leftOut);
      for (const listener of this.#listeners) listener();
    }
    this.#prover.consider();
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

function statusOf(watched: WatchedServer, prover: Prover): ServiceStatus {
  const { config, state } = watched;
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
    models: offered(watched, prover).map((model) => model.id),
    heldBack: subjectsOf(watched).flatMap((subject) => heldBack(subject, prover)),
    slots: slotsOf(config, description),
  };
}

function entryOf(watched: WatchedServer, prover: Prover): CatalogEntry[] {
  const { config, backend, state } = watched;
  if (state.kind !== 'up') return [];
  const { type, slotGroup } = config;
  const models = offered(watched, prover);
  return [{ config, backend, type, slotGroup, models, slots: slotsOf(config, state.description) }];
}

function offered(watched: WatchedServer, prover: Prover): AdvertisedModel[] {
  return subjectsOf(watched).flatMap(({ config, model }) =>
    prover.verdict(config, model).state === 'offered' ? [model] : [],
  );
}

function heldBack({ config, model }: Subject, prover: Prover): HeldBack[] {
  const verdict = prover.verdict(config, model);
  if (verdict.state === 'offered') return [];
  const reason = verdict.state === 'failed' ? verdict.reason : null;
  return [{ id: model.id, state: verdict.state, reason }];
}

function slotsOf(config: ServiceConfig, description: Description | null): number {
  const slots = config.slots ?? description?.slots ?? 1;
  return Math.min(Math.max(slots, 1), LINK.maxStreams);
}
