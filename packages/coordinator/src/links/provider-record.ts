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
import { SlotCounts } from './slot-counts.js';
import type { FreeSlots, SlotKind } from './slot-counts.js';

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
  /** The newest one that has said HELLO; it is the current one once it was welcomed. */
  arriving: AgentSession | null = null;
  /**
   * Monotonic time at which the last link ended; null while online, or where there was none yet.
   */
  offlineSince: number | null = null;
  /** Unix ms, of the last session; null where there was none yet. */
  #lastSeenAt: number | null;
  readonly slots = new SlotCounts();
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
    this.#lastSeenAt = provider.lastSeenAt;
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
        busyByService: this.slots.busyByService,
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
      sessionId: this.session?.id ?? null,
      lastSeenAt: this.session === null ? this.#lastSeenAt : Date.now(),
      offlineSince: this.offlineSince,
      draining: this.draining,
      accepts: this.session?.accepts ?? 'none',
      slots: service.slots,
      ...this.#free(service, now),
      recentFailures: this.#recentFailures(now),
      speed: null,
    };
  }

  /** What jobs could take of all services together. */
  freeJobSlots(now: number): number {
    if (this.session === null || this.draining || this.session.accepts === 'none') return 0;
    return this.services.reduce((sum, service) => sum + this.#free(service, now).freeJobSlots, 0);
  }

  /** Whether a job may take a slot of this service at this moment. */
  hasJobSlot(serviceId: string): boolean {
    const service = this.services.find((one) => one.service_id === serviceId);
    return service !== undefined && this.#free(service, performance.now()).freeJobSlots > 0;
  }

  take(serviceId: string, kind: SlotKind): void {
    const service = this.services.find((one) => one.service_id === serviceId);
    this.slots.take(serviceId, kind, service?.slot_group ?? null);
  }

  linked(session: AgentSession): void {
    this.session = session;
    this.offlineSince = null;
    this.slots.clear();
  }

  unlinked(): void {
    this.session = null;
    this.offlineSince = performance.now();
    this.#lastSeenAt = Date.now();
    this.slots.clear();
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

  #free(service: AdvertisedService, now: number): FreeSlots {
    // A link that is closing may do so for seconds: work for it would come back, again and again.
    if (this.session?.isOpen !== true || now < this.#busyUntil) return NONE;
    const { freeSlots, freeJobSlots } = this.slots.left(service, this.services);
    const onLink = LINK.maxStreams - this.session.busy;
    return {
      freeSlots: Math.min(freeSlots, onLink),
      freeJobSlots: Math.min(freeJobSlots, onLink),
    };
  }
}

const NONE: FreeSlots = { freeSlots: 0, freeJobSlots: 0 };
