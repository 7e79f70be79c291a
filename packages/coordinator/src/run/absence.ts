/**
 * The errors for a model that no provider serves for this caller now: the 404 with similar names
 * and the online models, or the error that all of its providers have failed.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { nearest } from '@inference-gateway/shared/nearest';
import { servedModels } from '../core/access/access.js';
import { NO_NEEDS, capableCandidates } from '../core/routing/match.js';
import type { Asking } from '../core/routing/match.js';
import { nextTry } from '../core/jobs/waiting-reason.js';
import type { Links } from '../core/routing/links.js';
import { resolve } from '../core/routing/resolve.js';
import type { Call, CalledAlias } from './work.js';

const MAX_NAMED = 8;

interface Sought extends Pick<Call, 'endpoint' | 'model'>, Partial<Pick<Call, 'needs' | 'alias'>> {
  readonly caller: Asking;
}

/**
 * For a call that was sent to no provider. If the model is known, the error says why no provider
 * has it now.
 */
export function modelAbsent(sought: Sought, links: Links): ApiError {
  const isKnown = knownOnes(sought, links).length > 0;
  return isKnown ? modelOffline(sought, links) : modelNotFound(sought, links);
}

export function modelNotFound(sought: Sought, links: Links): ApiError {
  const { serviceType } = ENDPOINTS[sought.endpoint];
  const online = onlineModels(sought, links);
  const near = nearest(sought.model, [...online, ...aliasNames(sought, links)]);
  const hint = near.length > 0 ? ` Did you mean ${list(near)}?` : ` ${offer(online, serviceType)}`;
  const { features = [] } = sought.needs ?? {};
  const ability = features.length === 0 ? '' : ` with ${features.join(' and ')}`;
  const wanted = `'${sought.model}' as ${serviceType}${ability}`;
  const message = `No provider that you may use serves the model ${wanted}.`;
  return new ApiError('model_not_found', message + hint, { param: 'model' });
}

export function modelOffline(sought: Sought, links: Links): ApiError {
  const { serviceType } = ENDPOINTS[sought.endpoint];
  const offered = offer(onlineModels(sought, links), serviceType);
  const closed = closedOnes(sought, links);
  const state = closed.some(({ grant }) => !grant.isOpen)
    ? 'draining, paused, or shared at other hours of the day'
    : 'draining or paused';
  const message =
    closed.length > 0
      ? `Every online provider of the model '${sought.model}' is ${state}. ${offered}`
      : `Every provider that serves the model '${sought.model}' is offline. ${offered}`;
  return new ApiError('model_offline', message, { param: 'model' });
}

/** What is said of the last model of an alias that was tried, or of the first that was sought. */
export function aliasUnserved({ name, models }: CalledAlias, error: ApiError): ApiError {
  const { code, param, retryAfterS, headers, cause, message } = error;
  const told = `The alias '${name}' stands for ${list(models)}, and none of them could serve. `;
  const detail = { headers, cause, ...(param !== null && { param }) };
  return new ApiError(code, told + message, {
    ...detail,
    ...(retryAfterS !== undefined && { retryAfterS }),
  });
}

/**
 * No provider of the model takes a kind of input that the request contains. `param` names that
 * part; for a job whose request is no longer in memory, it names the field.
 */
export function inputNotTaken(
  { model }: Pick<Sought, 'model'>,
  inputs: readonly string[],
  param = 'messages',
): ApiError {
  const message =
    `'${param}' holds ${inputs.join(' and ')}, which the model '${model}' does not take. ` +
    "Leave it out, or choose a model whose 'input_modalities' in GET /v1/models has it.";
  return new ApiError('unsupported_modality', message, { param });
}

/** These providers get no calls until then, so waiting for a slot is useless. */
export function modelBroken({ model }: Pick<Sought, 'model'>, retryInMs: number): ApiError {
  const failed = `Every provider that serves the model '${model}' failed lately`;
  const retryAfterS = Math.max(1, Math.ceil(retryInMs / 1_000));
  const message = `${failed}; ${nextTry(retryInMs)}.`;
  return new ApiError('provider_error', message, { param: 'model', retryAfterS });
}

/** Providers that could serve it and are online, but take none of this caller's work now. */
function closedOnes(sought: Sought, links: Links) {
  return knownOnes(sought, links).filter(({ online }) => online);
}

/** Providers that could serve it, online or not. */
function knownOnes({ caller, endpoint, model, needs = NO_NEEDS }: Sought, links: Links) {
  const candidates = links.candidates(ENDPOINTS[endpoint].serviceType, model);
  return capableCandidates(candidates, { caller, needs });
}

/**
 * Models of the providers that take this caller's work now, as `GET /models` lists them: through an
 * alias they may reach more, which has no name for them.
 */
function onlineModels({ caller, alias, endpoint }: Sought, links: Links): string[] {
  const asking = alias?.asking ?? caller;
  const { serviceType } = ENDPOINTS[endpoint];
  const served = links
    .providers()
    .flatMap((provider) => servedModels(provider, asking))
    .filter(({ service }) => service.service_type === serviceType);
  return [...new Set(served.map(({ model }) => model.id))].toSorted();
}

/** The aliases that lead this caller to a model of the endpoint. */
function aliasNames({ caller, alias, endpoint }: Sought, links: Links): readonly string[] {
  const asking = alias?.asking ?? caller;
  const { serviceType } = ENDPOINTS[endpoint];
  const isMeant = (model: string): boolean =>
    resolve(links, { caller: asking, serviceType, model }).kind === 'alias';
  return links.aliases.names(asking.memberId).filter(isMeant);
}

function offer(online: readonly string[], serviceType: string): string {
  if (online.length === 0) return `No ${serviceType} model is online for you now.`;
  const more = online.length > MAX_NAMED ? ` and ${online.length - MAX_NAMED} more` : '';
  return `Online now: ${list(online.slice(0, MAX_NAMED))}${more}.`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
