/** What commands tell of a share. */
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import type { Share } from '../store/port.js';

export function presentShare({ subject, audience, caps, ...share }: Share) {
  const name = share.audienceName;
  return {
    id: share.id,
    provider: share.providerName,
    /** All that the provider serves, where service and model are null. */
    service_id: subject.serviceId,
    model: subject.model,
    /** One of the two is null. */
    network: audience.kind === 'network' ? name : null,
    member: audience.kind === 'member' ? name : null,
    slots: caps.slots,
    hours: caps.hours === null ? null : formatDayHours(caps.hours),
    max_tokens: caps.maxTokens,
    created_at: share.createdAt,
  };
}

export type ShareView = ReturnType<typeof presentShare>;
