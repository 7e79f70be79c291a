/** The 404 of a model that nobody serves for this caller: what is near it, and what is online. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { nearest } from '@inference-gateway/shared/nearest';
import { isServing } from '../core/access.js';
import { NO_NEEDS, capableCandidates } from '../core/match.js';
import type { Sessions } from '../core/sessions.js';
import type { Work } from './work.js';

const MAX_NAMED = 8;

type Sought = Pick<Work, 'caller' | 'endpoint' | 'model'> & Partial<Pick<Work, 'needs'>>;

export function modelNotFound(sought: Sought, sessions: Sessions): ApiError {
  const { serviceType } = ENDPOINTS[sought.endpoint];
  const online = onlineModels(sought, sessions);
  const near = nearest(sought.model, online);
  const hint = near.length > 0 ? ` Did you mean ${list(near)}?` : ` ${offer(online, serviceType)}`;
  const { features = [] } = sought.needs ?? {};
  const ability = features.length === 0 ? '' : ` with ${features.join(' and ')}`;
  const wanted = `'${sought.model}' as ${serviceType}${ability}`;
  const message = `No provider of yours serves the model ${wanted}.`;
  return new ApiError('model_not_found', message + hint, { param: 'model' });
}

export function modelOffline(sought: Sought, sessions: Sessions): ApiError {
  const { serviceType } = ENDPOINTS[sought.endpoint];
  const offered = offer(onlineModels(sought, sessions), serviceType);
  const message = isThere(sought, sessions)
    ? `Every online provider of the model '${sought.model}' is draining or paused. ${offered}`
    : `Every provider that serves the model '${sought.model}' is offline. ${offered}`;
  return new ApiError('model_offline', message, { param: 'model' });
}

/** Whether somebody who could serve it is online and takes no work of this caller's now. */
function isThere({ caller, endpoint, model, needs = NO_NEEDS }: Sought, sessions: Sessions) {
  const candidates = sessions.candidates(ENDPOINTS[endpoint].serviceType, model);
  return capableCandidates(candidates, { caller, needs }).some(({ online }) => online);
}

/** Of those that take this caller's work now, as `GET /models` has them. */
function onlineModels({ caller, endpoint }: Sought, sessions: Sessions): string[] {
  const { serviceType } = ENDPOINTS[endpoint];
  const services = sessions
    .providers()
    .filter((provider) => isServing(provider, caller))
    .flatMap((provider) => provider.services);
  const ofType = services.filter((service) => service.service_type === serviceType);
  return [
    ...new Set(ofType.flatMap((service) => service.models.map((model) => model.id))),
  ].toSorted();
}

function offer(online: readonly string[], serviceType: string): string {
  if (online.length === 0) return `No ${serviceType} model is online for you now.`;
  const more = online.length > MAX_NAMED ? ` and ${online.length - MAX_NAMED} more` : '';
  return `Online now: ${list(online.slice(0, MAX_NAMED))}${more}.`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
