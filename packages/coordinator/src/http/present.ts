/** Inside to outside: the resources of the specification, section 2. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { isServing } from '../core/access.js';
import type { Caller } from '../core/caller.js';
import type { ProviderView } from '../core/sessions.js';

export interface ModelResource {
  readonly id: string;
  readonly object: 'model';
  /** Unix seconds at which the provider was registered. */
  readonly created: number;
  /** The owner's public name. */
  readonly owned_by: string;
  readonly service_type: ServiceType;
  readonly input_modalities: readonly string[];
  readonly output_modalities: readonly string[];
  readonly supported_features: readonly string[];
  readonly context_length: number | null;
}

/** What is online for this caller now: one row an id and service type. */
export function presentModels(
  providers: readonly ProviderView[],
  caller: Caller,
): readonly ModelResource[] {
  const rows = new Map<string, ModelResource>();
  for (const provider of inOrder(providers, caller)) {
    for (const service of provider.services) {
      for (const model of service.models) {
        const key = `${service.service_type} ${model.id}`;
        const known = rows.get(key);
        const row = presentModel(provider, service.service_type, model);
        rows.set(key, known === undefined ? row : merge(known, model));
      }
    }
  }
  return [...rows.values()];
}

/** The caller's own providers first, then the oldest: the first one names the owner. */
function inOrder(providers: readonly ProviderView[], caller: Caller): ProviderView[] {
  const foreign = (provider: ProviderView): number => Number(provider.ownerId !== caller.memberId);
  return providers
    .filter((provider) => isServing(provider, caller))
    .toSorted((a, b) => foreign(a) - foreign(b) || a.createdAt - b.createdAt);
}

function presentModel(
  provider: ProviderView,
  serviceType: ServiceType,
  model: AdvertisedModel,
): ModelResource {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(provider.createdAt / 1000),
    owned_by: provider.ownerName,
    service_type: serviceType,
    input_modalities: model.input_modalities,
    output_modalities: model.output_modalities,
    supported_features: model.supported_features,
    context_length: model.context_length,
  };
}

/** Features are the union (matching asks for what a request needs), the context is the smallest. */
function merge(row: ModelResource, model: AdvertisedModel): ModelResource {
  return {
    ...row,
    input_modalities: union(row.input_modalities, model.input_modalities),
    output_modalities: union(row.output_modalities, model.output_modalities),
    supported_features: union(row.supported_features, model.supported_features),
    context_length: smallest(row.context_length, model.context_length),
  };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}

function smallest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
