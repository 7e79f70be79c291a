/**
 * What the registry knows of one provider: who owns it, what it serves, and how it has been
 * doing.
 */
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Candidate } from '../core/match.js';
import type { ProviderView } from '../core/sessions.js';
import type { Provider } from '../store/port.js';
import type { AgentSession } from './agent-session.js';

const FAILURE_MEMORY_MS = 60_000;
const MAX_FAILURES = 20;
/** A provider that refused work as busy is left alone this long. */
export const BUSY_PAUSE_MS = 500;

export class ProviderRecord {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly createdAt: number;
  name: string;
  draining: boolean;
  services: readonly AdvertisedService[];
  session: AgentSession | null = null;
  /**
   * Monotonic time at which the last link ended; null while online, or where there was none yet.
   */
  offlineSince: number | null = null;
  /** Streams open, by service. */
  readonly #busy = new Map<string, number>();
  #failures: number[] = [];
  #busyUntil = 0;

  constructor(provider: Provider) {
    this.id = provider.id;
    this.ownerId = provider.ownerId;
    this.ownerName = provider.ownerName;
    this.createdAt = provider.createdAt;
    this.name = provider.name;
    this.draining = provider.draining;
    this.services = provider.services;
  }

  view(): ProviderView {
    const { session } = this;
    return {
      providerId: this.id,
      ownerId: this.ownerId,
      ownerName: this.ownerName,
      name: this.name,
      createdAt: this.createdAt,
      session: session && {
        sessionId: session.id,
        connectedAt: session.connectedAt,
        agentVersion: session.hello.agent_version,
        host: session.host,
        accepts: session.accepts,
        busy: session.busy,
        busyByService: this.#busy,
      },
      offlineSince: this.offlineSince && Date.now() - (performance.now() - this.offlineSince),
      draining: this.draining,
      services: this.services,
    };
  }

  candidate(service: AdvertisedService, model: AdvertisedModel, now: number): Candidate {
    return {
      providerId: this.id,
      providerName: this.name,
      ownerId: this.ownerId,
      serviceId: service.service_id,
      model,
      online: this.session !== null,
      offlineSince: this.offlineSince,
      draining: this.draining,
      accepts: this.session?.accepts ?? 'none',
      freeSlots: now < this.#busyUntil ? 0 : this.#freeSlots(service),
      recentFailures: this.#recentFailures(now),
      speed: null,
    };
  }

  take(serviceId: string): void {
    this.#busy.set(serviceId, this.#busyOf(serviceId) + 1);
  }

  free(serviceId: string): void {
    this.#busy.set(serviceId, Math.max(0, this.#busyOf(serviceId) - 1));
  }

  freeAll(): void {
    this.#busy.clear();
  }

  failed(now: number): void {
    this.#failures = [...this.#failures, now].slice(-MAX_FAILURES);
  }

  refused(now: number): void {
    this.#busyUntil = now + BUSY_PAUSE_MS;
  }

  #recentFailures(now: number): number {
    if (this.#failures.length === 0) return 0;
    this.#failures = this.#failures.filter((at) => now - at < FAILURE_MEMORY_MS);
    return this.#failures.length;
  }

  /**
   * Services of one group share one card: together they run at most the largest `slots` among
   * them.
   */
  #freeSlots(service: AdvertisedService): number {
    const group = this.services.filter(
      (other) =>
        other.service_id === service.service_id ||
        (service.slot_group !== undefined && other.slot_group === service.slot_group),
    );
    const slots = Math.max(...group.map((member) => member.slots));
    const taken = group.reduce((sum, member) => sum + this.#busyOf(member.service_id), 0);
    const own = service.slots - this.#busyOf(service.service_id);
    const onLink = LINK.maxStreams - (this.session?.busy ?? 0);
    return Math.min(own, slots - taken, onLink);
  }

  #busyOf(serviceId: string): number {
    return this.#busy.get(serviceId) ?? 0;
  }
}
