import { nearest } from '@inference-gateway/shared/nearest';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import type { ShareSubject } from './sharing.js';

export interface SharedProvider {
  /** As `OWNER/NAME`. */
  readonly name: string;
  readonly services: readonly AdvertisedService[];
}

/** Why nobody gets anything by the share as yet. It holds all the same: a model can come. */
export function warningOf(provider: SharedProvider, subject: ShareSubject): string | null {
  const bound = provider.services.filter((service) => binds(subject, service));
  if (bound.length === 0) return unserved(provider, subject);
  if (bound.some(({ foreign }) => foreign !== false)) return null;
  const { name } = provider;
  return `${name} takes nobody else's work there: its agent's configuration has "foreign": false.`;
}

function binds({ serviceId, model }: ShareSubject, service: AdvertisedService): boolean {
  if (serviceId !== null) return service.service_id === serviceId;
  return model === null || service.models.some(({ id }) => id === model);
}

/** Null where all is shared: that a provider serves nothing at all needs no telling. */
function unserved(provider: SharedProvider, { serviceId, model }: ShareSubject): string | null {
  const wanted = model ?? serviceId;
  if (wanted === null) return null;
  const known = provider.services.flatMap(({ service_id, models }) =>
    model === null ? [service_id] : models.map(({ id }) => id),
  );
  const meant = nearest(wanted, [...new Set(known)]).join(', ');
  const hint = meant === '' ? '' : ` Did you mean ${meant}?`;
  const what = `${model === null ? 'service' : 'model'} '${wanted}'`;
  return `${provider.name} serves no ${what} as yet; the share holds once it does.${hint}`;
}
