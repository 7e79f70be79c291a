/** What an agent is told of its own provider. Times are Unix ms, as on its link. */
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import type { Network, Provider, Share } from '../../store/port.js';

interface Self {
  readonly provider: Provider;
  /** Those that its owner is in. */
  readonly networks: readonly Network[];
  readonly shares: readonly Share[];
  readonly gateway: {
    readonly version: string;
    /** The subprotocols that it speaks. */
    readonly protocols: readonly string[];
    readonly now: number;
  };
}

export function presentSelf({ provider, networks, shares, gateway }: Self) {
  return {
    provider_id: provider.id,
    name: provider.name,
    owner: provider.ownerName,
    approved: provider.approvedAt !== null,
    draining: provider.draining,
    version: gateway.version,
    protocols: gateway.protocols,
    server_time: gateway.now,
    networks: networks.map(({ id, name, members }) => ({ id, name, members: members.length })),
    shares: shares.map(presentAgentShare),
  };
}

export function presentAgentShare({ id, subject, audience, audienceName, caps, ...share }: Share) {
  return {
    id,
    service_id: subject.serviceId,
    model: subject.model,
    network: audience.kind === 'network' ? audienceName : null,
    member: audience.kind === 'member' ? audienceName : null,
    slots: caps.slots,
    hours: caps.hours === null ? null : formatDayHours(caps.hours),
    max_tokens: caps.maxTokens,
    created_at: share.createdAt,
  };
}
