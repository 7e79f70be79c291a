/**
 * Which providers serve a model, or last served it: an index, so that a call costs the same with
 * one provider as with a thousand.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import type { Candidate } from '../core/routing/match.js';
import type { ProviderRecord } from './provider-record.js';

interface Entry {
  readonly record: ProviderRecord;
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
}

export class ModelIndex {
  readonly #entries = new Map<string, Entry[]>();

  candidates(serviceType: ServiceType, model: string): readonly Candidate[] {
    const now = performance.now();
    const entries = this.#entries.get(keyOf(serviceType, model)) ?? [];
    return entries.map((entry) => entry.record.candidate(entry.service, entry.model, now));
  }

  /** Replaces what the provider serves, in the record and in this index. */
  serve(record: ProviderRecord, services: readonly AdvertisedService[]): void {
    this.#remove(record);
    record.serves(services);
    for (const [key, entries] of entriesOf(record)) {
      this.#entries.set(key, [...(this.#entries.get(key) ?? []), ...entries]);
    }
  }

  forget(record: ProviderRecord): void {
    this.#remove(record);
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
