/**
 * `GET /models` and `GET /models/{id}`: answered from memory, without requests to agents. Clients
 * of Anthropic's API get them in the form of that API.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { modelInfo, modelsPage } from '@inference-gateway/shared/openai/messages/models';
import { nearest } from '@inference-gateway/shared/nearest';
import type Router from '@koa/router';
import type * as z from 'zod';
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Links, ProviderView } from '../../core/routing/links.js';
import { servedModels } from '../../core/access/access.js';
import { resolve } from '../../core/routing/resolve.js';
import type { Caller } from '../../core/access/caller.js';
import type { model } from '../../openapi/media-resources.js';
import { callerOf } from '../edge/context.js';
import { isMessagesCall } from '../edge/edge.js';
import type { RequestState } from '../edge/context.js';

export function modelRoutes(router: Router<RequestState>, links: Links): void {
  router.get('/v1/models', (ctx) => {
    const caller = callerOf(ctx);
    const data = presentModels(links, caller, links.aliases.names(caller.memberId));
    ctx.body = isMessagesCall(ctx) ? modelsPage(data, ctx.query) : { object: 'list', data };
  });

  // Ids contain slashes, raw or percent-encoded: `org/Model:7b`.
  router.get(/^\/v1\/models\/(.+)$/, (ctx) => {
    const id = decode(ctx.path.slice('/v1/models/'.length));
    const caller = callerOf(ctx);
    // Also a name that only a pattern has.
    const names = [...links.aliases.names(caller.memberId), id];
    const models = presentModels(links, caller, names);
    const model = models.find((candidate) => candidate.id === id);
    if (model === undefined)
      throw unknownModel(
        id,
        models.map((candidate) => candidate.id),
      );
    ctx.body = isMessagesCall(ctx) ? modelInfo(model) : model;
  });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function unknownModel(id: string, online: readonly string[]): ApiError {
  const near = nearest(id, online).map((name) => `'${name}'`);
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ' GET /models lists them.';
  const message = `The model '${id}' is not online for you.${hint}`;
  return new ApiError('model_not_found', message, { param: 'model' });
}

// Presenters: the resources of the specification, section 2.

type Documented = z.output<typeof model>;
/** A row that is being merged: the type of the OpenAPI schema. */
type Row = {
  [Field in keyof Documented]: Documented[Field] extends string[]
    ? readonly string[]
    : Documented[Field];
};
export type ModelResource = Readonly<Row>;

/** The models online for this caller, then these aliases: one row per id and service type. */
function presentModels(
  links: Pick<Links, 'providers' | 'candidates' | 'aliases'>,
  caller: Caller,
  names: readonly string[],
): readonly ModelResource[] {
  const providers = links.providers();
  const rows = onlineModels(providers, caller);
  // An alias may lead a restricted key to models that it does not see by their own names.
  const all = names.length === 0 ? [] : onlineModels(providers, { ...caller, rules: null });
  for (const name of new Set(names)) {
    for (const serviceType of SERVICE_TYPES) {
      const { kind, models } = resolve(links, { caller, serviceType, model: name });
      if (kind !== 'alias') continue;
      const first = all.find((row) => row.id === models[0] && row.service_type === serviceType);
      if (first !== undefined) rows.push({ ...first, id: name, alias_of: [...models] });
    }
  }
  return rows;
}

function onlineModels(providers: readonly ProviderView[], caller: Caller): Row[] {
  const rows: Row[] = [];
  const rowsByType = new Map<ServiceType, Map<string, Row>>();
  for (const provider of inOrder(providers, caller)) {
    for (const { service, model } of servedModels(provider, caller)) {
      const { service_type: serviceType } = service;
      const ofType = rowsByType.get(serviceType) ?? new Map<string, Row>();
      rowsByType.set(serviceType, ofType);
      const known = ofType.get(model.id);
      if (known !== undefined) {
        merge(known, model);
        continue;
      }
      const row = presentModel(provider, serviceType, model);
      ofType.set(model.id, row);
      rows.push(row);
    }
  }
  return rows;
}

/** The caller's own providers first, then the oldest: the first one names the owner. */
function inOrder(providers: readonly ProviderView[], caller: Caller): ProviderView[] {
  const foreign = (provider: ProviderView): number => Number(provider.ownerId !== caller.memberId);
  return providers.toSorted((a, b) => foreign(a) - foreign(b) || a.createdAt - b.createdAt);
}

function presentModel(
  provider: ProviderView,
  serviceType: ServiceType,
  model: AdvertisedModel,
): Row {
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

/**
 * Features are the union, because matching checks the requirements; the context is the smallest.
 */
function merge(row: Row, model: AdvertisedModel): void {
  row.input_modalities = union(row.input_modalities, model.input_modalities);
  row.output_modalities = union(row.output_modalities, model.output_modalities);
  row.supported_features = union(row.supported_features, model.supported_features);
  row.context_length = smallest(row.context_length, model.context_length);
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return b.every((one) => a.includes(one)) ? a : [...new Set([...a, ...b])];
}

function smallest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
