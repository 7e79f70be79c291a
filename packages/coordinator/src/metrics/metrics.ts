/** The coordinator's Prometheus metrics. They never contain callers' names or contents. */
import { Counter, Gauge, Registry, collectDefaultMetrics, Histogram } from 'prom-client';
import type { Metric } from 'prom-client';
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import type { ProviderView, LinkView } from '../core/routing/links.js';
import type { Call } from '../run/work.js';
import type { UsageRow } from '../store/port.js';
import { GenAiMetrics } from './gen-ai-metrics.js';
import { StateMetrics } from './state-metrics.js';
import type { GatewayState } from './state-metrics.js';

export interface MetricsParts {
  readonly providers: () => readonly ProviderView[];
  /** Inference calls that have started and not ended. */
  readonly callsInFlight: () => number;
  /** Called by each scrape; null: it cannot be read now, and its metrics are left out. */
  readonly state: () => Promise<GatewayState | null>;
  readonly version: string;
  /** Null on SQLite, where there is one coordinator. */
  readonly node: NodeParts | null;
}

/** What a coordinator of a database on PostgreSQL knows of itself and the others. */
export interface NodeParts {
  /** In a label of each metric. */
  readonly name: string;
  /** The others that run, and whether this one is linked to them. */
  readonly linked: () => ReadonlyMap<string, boolean>;
  readonly relayed: () => RelayedCalls;
}

/** Calls since the start: sent to agents of other coordinators, and received for agents here. */
export type RelayedCalls = Readonly<Record<'in' | 'out', number>>;

type WorkKind = 'call' | 'job';

export class Metrics {
  // A registry of its own, not prom-client's global one: a process may run several coordinators.
  readonly #registry = new Registry();
  readonly #calls = new CallCounters(this.#registry);
  readonly #genAi = new GenAiMetrics(this.#registry);
  readonly #state = new StateMetrics();
  readonly #readState: MetricsParts['state'];
  readonly #rateLimited = new Counter({
    name: 'gateway_rate_limited_total',
    help: 'Requests refused because their member had sent too many.',
    registers: [this.#registry],
  });
  readonly #answers = new Counter({
    name: 'gateway_http_requests_total',
    help: 'HTTP requests that have ended, by status; none where the caller left before it.',
    labelNames: ['status'],
    registers: [this.#registry],
  });

  constructor(parts: MetricsParts) {
    addGauges(this.#registry, parts);
    for (const metric of processMetrics()) this.#registry.registerMetric(metric);
    this.#readState = parts.state;
    if (parts.node === null) return;
    addNodeMetrics(this.#registry, parts.node);
    const labels = { node: parts.node.name };
    this.#registry.setDefaultLabels(labels);
    this.#state.setDefaultLabels(labels);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts a finished call or job. Call it once for each usage row. */
  observe(work: Pick<Call, 'stream'>, row: UsageRow, kind: WorkKind = 'call'): void {
    this.#calls.observe(row, kind);
    const tokensKnown = row.promptTokens + row.completionTokens > 0 && !row.estimated;
    this.#genAi.observe({ row, stream: work.stream, tokensKnown });
  }

  rateLimited(): void {
    this.#rateLimited.inc();
  }

  /** Counts an HTTP request with its status; null if no response had started. */
  answered(status: number | null): void {
    this.#answers.inc({ status: status ?? 'none' });
  }

  /** All metrics in Prometheus' text format 0.0.4. */
  async text(): Promise<string> {
    const state = await this.#readState();
    const parts = await Promise.all([this.#registry.metrics(), this.#state.text(state)]);
    return parts.join('\n');
  }
}

/** Gauges whose values are read during a scrape. */
function addGauges(registry: Registry, { callsInFlight, providers, version }: MetricsParts): void {
  const build = new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the version is in the label.',
    labelNames: ['version'],
    registers: [],
  });
  build.set({ version }, 1);
  const calls = new Gauge({
    name: 'gateway_calls_in_flight',
    help: 'Inference calls that have begun and not ended, those that wait included.',
    registers: [],
    collect() {
      this.set(callsInFlight());
    },
  });
  const online = new Gauge({
    name: 'gateway_providers_online',
    help: 'Providers with a link.',
    registers: [],
    collect() {
      this.set(providers().filter(({ link }) => link !== null).length);
    },
  });
  registry.registerMetric(build);
  registry.registerMetric(calls);
  registry.registerMetric(online);
  registry.registerMetric(slotGauge(providers));
}

function addNodeMetrics(registry: Registry, { linked, relayed }: NodeParts): void {
  const links = new Gauge({
    name: 'gateway_node_links',
    help: 'For each other coordinator that runs: 1 if this one is linked to it, else 0.',
    labelNames: ['peer'],
    registers: [],
    collect() {
      // Those that have stopped are no longer there.
      this.reset();
      for (const [peer, isLinked] of linked()) this.set({ peer }, isLinked ? 1 : 0);
    },
  });
  const calls = new Counter({
    name: 'gateway_relayed_calls_total',
    help: 'Calls sent to agents of other coordinators (out), and received for agents here (in).',
    labelNames: ['direction'],
    registers: [],
    collect() {
      this.reset();
      for (const [direction, count] of Object.entries(relayed())) this.inc({ direction }, count);
    },
  });
  registry.registerMetric(links);
  registry.registerMetric(calls);
}

function slotGauge(providers: MetricsParts['providers']): Gauge<'service_type' | 'state'> {
  return new Gauge({
    name: 'gateway_slots',
    help: 'Slots of the providers online. One that several service types share counts in each.',
    labelNames: ['service_type', 'state'],
    registers: [],
    collect() {
      for (const { serviceType, busy, free } of countSlots(providers())) {
        this.set({ service_type: serviceType, state: 'busy' }, busy);
        this.set({ service_type: serviceType, state: 'free' }, free);
      }
    },
  });
}

let collected: Registry | null = null;

/**
 * Memory, CPU time, event loop and garbage collection: prom-client's default metrics. They belong
 * to the process, and prom-client cannot stop collecting them. So all coordinators of a process
 * share them; labels are added by the registry of each.
 */
function processMetrics(): readonly Metric[] {
  if (collected === null) {
    collected = new Registry();
    collectDefaultMetrics({ register: collected });
  }
  const shared = collected;
  return shared.getMetricsAsArray().flatMap(({ name }) => shared.getSingleMetric(name) ?? []);
}

// Busy and free slots by service type, summed over all online providers.
interface SlotCount {
  readonly serviceType: ServiceType;
  readonly busy: number;
  readonly free: number;
}

export function countSlots(providers: readonly ProviderView[]): SlotCount[] {
  return SERVICE_TYPES.map((serviceType) => {
    const counts = providers.map((provider) => countOf(provider, serviceType));
    return {
      serviceType,
      busy: counts.reduce((sum, { busy }) => sum + busy, 0),
      free: counts.reduce((sum, { free }) => sum + free, 0),
    };
  });
}

interface Count {
  readonly busy: number;
  readonly free: number;
}

function countOf(provider: ProviderView, type: ServiceType): Count {
  const { link, draining, services } = provider;
  if (link === null) return { busy: 0, free: 0 };
  const closed = provider.closed || draining || link.accepts === 'none';
  let busy = 0;
  let free = 0;
  for (const unit of unitsOf(services)) {
    const own = unit.filter((service) => service.service_type === type);
    busy += busyOf(own, link);
    free += closed ? 0 : freeOf(unit, own, link);
  }
  return { busy, free };
}

/** Groups the services that share a card. A service without a group is a unit by itself. */
function unitsOf(services: readonly AdvertisedService[]): AdvertisedService[][] {
  const units = new Map<string | AdvertisedService, AdvertisedService[]>();
  for (const service of services) {
    const key = service.slot_group ?? service;
    units.set(key, [...(units.get(key) ?? []), service]);
  }
  return [...units.values()];
}

/** A free slot of a card that several types share counts as free for each of them. */
function freeOf(
  unit: readonly AdvertisedService[],
  own: readonly AdvertisedService[],
  link: LinkView,
): number {
  const ofCard = Math.max(...unit.map(({ slots }) => slots)) - busyOf(unit, link);
  const ofType = own.reduce((sum, { slots }) => sum + slots, 0) - busyOf(own, link);
  return Math.max(0, Math.min(ofCard, ofType));
}

function busyOf(services: readonly AdvertisedService[], { busyByService }: LinkView): number {
  return services.reduce((sum, { service_id: id }) => sum + (busyByService.get(id) ?? 0), 0);
}

/** A call waits up to `GATEWAY_SYNC_WAIT_S` for a slot, 60 s by default. */
const QUEUE_BUCKETS_S = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300];

/** Totals of calls. Computed from the usage rows, so that metrics and usage always agree. */
class CallCounters {
  readonly #requests: Counter<'endpoint' | 'outcome' | 'code'>;
  readonly #attempts: Counter<'endpoint'>;
  readonly #replacements: Counter<'endpoint'>;
  readonly #tokens: Counter<'type'>;
  readonly #audio: Counter<'endpoint'>;
  readonly #images: Counter;
  readonly #queueWait: Histogram<'service_type' | 'kind'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'gateway_requests_total',
      help: 'Inference calls that have ended. code is the error code, empty where there is none.',
      labelNames: ['endpoint', 'outcome', 'code'],
      registers,
    });
    this.#attempts = new Counter({
      name: 'gateway_attempts_total',
      help: 'Times that a call was sent to a provider.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#replacements = new Counter({
      name: 'gateway_replacements_total',
      help: 'Attempts after the first of the same call.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#tokens = new Counter({
      name: 'gateway_tokens_total',
      help: 'Tokens metered: input is what was read, output what was made.',
      labelNames: ['type'],
      registers,
    });
    this.#audio = new Counter({
      name: 'gateway_audio_seconds_total',
      help: 'Seconds of audio metered, heard or made.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#images = new Counter({
      name: 'gateway_images_total',
      help: 'Images metered.',
      registers,
    });
    this.#queueWait = new Histogram({
      name: 'gateway_queue_wait_seconds',
      help: 'How long a call or job waited for a free slot.',
      labelNames: ['service_type', 'kind'],
      buckets: QUEUE_BUCKETS_S,
      registers,
    });
  }

  observe(row: UsageRow, kind: WorkKind): void {
    const { endpoint, outcome } = row;
    this.#requests.inc({ endpoint, outcome, code: row.errorCode ?? '' });
    this.#attempts.inc({ endpoint }, row.attempts);
    this.#replacements.inc({ endpoint }, Math.max(0, row.attempts - 1));
    this.#queueWait.observe({ service_type: row.serviceType, kind }, row.queueMs / 1000);
    if (row.promptTokens > 0) this.#tokens.inc({ type: 'input' }, row.promptTokens);
    if (row.completionTokens > 0) this.#tokens.inc({ type: 'output' }, row.completionTokens);
    if (row.audioMs > 0) this.#audio.inc({ endpoint }, row.audioMs / 1000);
    if (row.images > 0) this.#images.inc(row.images);
  }
}
