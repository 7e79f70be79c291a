/** A row per model and type: features, providers, free slots and speed. */
import type { ModelResource } from '../../../../src/http/inference/models.js';
import type { MyResult } from '../../api/commands.js';
import type { QueueSummary } from '../../api/jobs.js';

type Offer = MyResult<'model.list'>[number];
type ModelQueue = QueueSummary['by_model'][number];

export interface ModelRow {
  readonly key: string;
  readonly id: string;
  /** Of an alias: the models that it stands for, the first one first; empty: it is a model. */
  readonly aliasOf: readonly string[];
  readonly type: ModelResource['service_type'];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly features: readonly string[];
  readonly context: number | null;
  readonly providers: number;
  readonly slots: number;
  readonly freeSlots: number;
  /** Speed of the fastest provider; null if none was measured. */
  readonly tokensPerSecond: number | null;
  readonly isOwn: boolean;
  /** Names of other members who share it, in alphabetical order. */
  readonly sharedBy: readonly string[];
}

/**
 * Joins the three answers; those of an alias are about its first model. Offers and queues may be
 * slightly out of date.
 */
export function modelRows(
  models: readonly ModelResource[],
  offers: readonly Offer[],
  queues: readonly ModelQueue[],
): readonly ModelRow[] {
  const offersOf = groupOffers(offers);
  const queueOf = new Map(queues.map((one) => [keyOf(one.model, one.service_type), one]));
  return models
    .map((model) => {
      const [first = model.id] = model.alias_of ?? [];
      const key = keyOf(first, model.service_type);
      return rowOf(model, offersOf.get(key) ?? [], queueOf.get(key));
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function rowOf(
  model: ModelResource,
  offers: readonly Offer[],
  queue: ModelQueue | undefined,
): ModelRow {
  const speeds = offers.flatMap(({ tokens_per_second: speed }) => speed ?? []);
  const others = offers.filter(({ own }) => own !== true).map(({ owner }) => owner);
  return {
    key: keyOf(model.id, model.service_type),
    id: model.id,
    aliasOf: model.alias_of ?? [],
    type: model.service_type,
    inputs: model.input_modalities,
    outputs: model.output_modalities,
    features: model.supported_features,
    context: model.context_length,
    providers: new Set(offers.map(({ provider_id: id }) => id)).size,
    slots: queue?.slots ?? 0,
    freeSlots: queue?.free_slots ?? 0,
    tokensPerSecond: speeds.length === 0 ? null : Math.max(...speeds),
    isOwn: offers.some(({ own }) => own === true),
    sharedBy: [...new Set(others)].toSorted(),
  };
}

function groupOffers(offers: readonly Offer[]): ReadonlyMap<string, readonly Offer[]> {
  const groups = new Map<string, Offer[]>();
  for (const offer of offers) {
    const key = keyOf(offer.id, offer.service_type);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [offer]);
    else group.push(offer);
  }
  return groups;
}

function keyOf(id: string, type: string): string {
  return `${id} ${type}`;
}
