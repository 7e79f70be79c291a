/**
 * Models that a provider served until its last list left them out: a local server restarts, or
 * changes its model, and is back in a moment. Jobs that wait for one go on waiting.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Candidate } from '../core/routing/match.js';
import type { ProviderRecord } from './provider-record.js';

interface Former {
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
  /** Unix ms. */
  readonly servedUntil: number;
}

/** Of one provider, the oldest go first: an agent may send other names each second. */
const MAX_A_PROVIDER = LINK.maxModels;

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
    const key = keyOf(serviceType, model);
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
      service.models.map((model) => [keyOf(service.service_type, model.id), { service, model }]),
    ),
  );
}

function keyOf(serviceType: ServiceType, model: string): string {
  return `${serviceType} ${model}`;
}
