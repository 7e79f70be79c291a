/** What Prometheus may know of a coordinator; never who called, or what was said. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { ProviderView } from '../core/routing/links.js';
import type { Work } from '../run/work.js';
import type { UsageRow } from '../store/port.js';
import { CallCounters } from './call-counters.js';
import { GenAiMetrics } from './gen-ai-metrics.js';
import { processMetrics } from './process-metrics.js';
import { countSlots } from './slot-count.js';

export interface MetricsParts {
  readonly providers: () => readonly ProviderView[];
  /** Inference calls that have begun and not ended. */
  readonly callsInFlight: () => number;
  readonly version: string;
}

export class Metrics {
  // Its own registry and not prom-client's global one: a process may hold several coordinators.
  readonly #registry = new Registry();
  readonly #process = processMetrics();
  readonly #calls = new CallCounters(this.#registry);
  readonly #genAi = new GenAiMetrics(this.#registry);
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
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts one call that has ended: call it with each row that is metered, once. */
  observe(work: Pick<Work, 'stream'>, row: UsageRow): void {
    this.#calls.observe(row);
    const tokensKnown = row.promptTokens + row.completionTokens > 0 && !row.estimated;
    this.#genAi.observe({ row, stream: work.stream, tokensKnown });
  }

  rateLimited(): void {
    this.#rateLimited.inc();
  }

  /** One HTTP request has ended with this status; null where no answer had begun. */
  answered(status: number | null): void {
    this.#answers.inc({ status: status ?? 'none' });
  }

  /** All of it, in Prometheus' text format 0.0.4. */
  async text(): Promise<string> {
    const parts = await Promise.all([this.#registry.metrics(), this.#process.metrics()]);
    return parts.join('\n');
  }
}

/** What is looked up at the moment at which somebody reads it. */
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
      this.set(providers().filter(({ session }) => session !== null).length);
    },
  });
  registry.registerMetric(build);
  registry.registerMetric(calls);
  registry.registerMetric(online);
  registry.registerMetric(slotGauge(providers));
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
