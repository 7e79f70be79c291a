/**
 * Which providers serve, or served, a model: an index, so that a call costs the same with one
 * provider as with a thousand.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Candidate } from '../core/routing/match.js';
import type { ProviderRecord } from './provider-record.js';

interface Entry {
  readonly record: ProviderRecord;
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
}

export class ModelIndex {
  readonly #entries = new Map<string, Entry[]>();
  readonly #former = new FormerModels();

  candidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    const now = performance.now();
    const entries = this.#entries.get(keyOf(serviceType, model)) ?? [];
    return entries.map((entry) => entry.record.candidate(entry.service, entry.model, now));
  }

  formerCandidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    return this.#former.candidates(serviceType, model);
  }

  /** Replaces what the provider serves, in the record and here. */
  serve(record: ProviderRecord, services: readonly AdvertisedService[]): void {
    this.#remove(record);
    this.#former.change(record, { before: record.services, after: services });
    record.serves(services);
    for (const [key, entries] of entriesOf(record)) {
      this.#entries.set(key, [...(this.#entries.get(key) ?? []), ...entries]);
    }
  }

  forget(record: ProviderRecord): void {
    this.#remove(record);
    this.#former.forget(record);
  }

  #remove(record: ProviderRecord): void {
    for (const key of entriesOf(record).keys()) {
      const others = this.#entries.get(key)?.filter((entry) => entry.record !== record) ?? [];
      if (others.length > 0) this.#entries.set(key, others);
      else this.#entries.delete(key);
    }
  }
}

function entriesOf(record: ProviderRecord): Map<string, Entry[]> {
  const index = new Map<string, Entry[]>();
  for (const service of record.services) {
    for (const model of service.models) {
      const key = keyOf(service.service_type, model.id);
      index.set(key, [...(index.get(key) ?? []), { record, service, model }]);
    }
  }
  return index;
}

function keyOf(serviceType: ServiceType, model: string): string {
  return `${serviceType} ${model}`;
}

interface Former {
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
  /** Unix ms. */
  readonly servedUntil: number;
}

/** Of one provider, the oldest go first: an agent may send other names each second. */
const MAX_A_PROVIDER = LINK.maxModels;

/**
 * Models that a provider served until its last list left them out: a local server restarts, or
 * changes its model, and is back in a moment. Jobs that wait for one go on waiting.
 */
export class FormerModels {
  readonly #byProvider = new Map<ProviderRecord, Map<string, Former>>();

  /** What the provider has served up to now, and whether it still does. */
  change(
    record: ProviderRecord,
    { before, after }: Record<'before' | 'after', readonly AdvertisedService[]>,
  ): void {
    const former = this.#byProvider.get(record) ?? new Map<string, Former>();
    const servedUntil = Date.now();
    for (const [key, one] of modelsOf(before)) former.set(key, { ...one, servedUntil });
    for (const key of modelsOf(after).keys()) former.delete(key);
    for (const key of former.keys()) {
      if (former.size <= MAX_A_PROVIDER) break;
      former.delete(key);
    }
    if (former.size > 0) this.#byProvider.set(record, former);
    else this.#byProvider.delete(record);
  }

  forget(record: ProviderRecord): void {
    this.#byProvider.delete(record);
  }

  /** None of them can be given work. */
  candidates(serviceType: ServiceType, model: string): Candidate[] {
    const key = formerKey(serviceType, model);
    const now = performance.now();
    return [...this.#byProvider].flatMap(([record, former]) => {
      const one = former.get(key);
      if (one === undefined) return [];
      const candidate = record.candidate(one.service, one.model, now);
      return { ...candidate, online: false, lastSeenAt: one.servedUntil };
    });
  }
}

function modelsOf(
  services: readonly AdvertisedService[],
): Map<string, Pick<Former, 'service' | 'model'>> {
  return new Map(
    services.flatMap((service) =>
      service.models.map((model) => [
        formerKey(service.service_type, model.id),
        { service, model },
      ]),
    ),
  );
}

function formerKey(serviceType: ServiceType, model: string): string {
  return `${serviceType} ${model}`;
}
