/** How many slots of a provider's services are taken, and how many are left, and for whom. */
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';

/** Whether a slot is taken by a job, or by a synchronous call. */
export type SlotKind = 'sync' | 'job';

export interface FreeSlots {
  readonly freeSlots: number;
  /** Of them, those that jobs may take. */
  readonly freeJobSlots: number;
}

export class SlotCounts {
  /** Taken, by service; and those of them that jobs have. */
  readonly #busy = new Map<string, number>();
  readonly #jobs = new Map<string, number>();

  /** By service; none where nothing is under way. */
  get busyByService(): ReadonlyMap<string, number> {
    return this.#busy;
  }

  take(serviceId: string, kind: SlotKind): void {
    add(this.#busy, serviceId, 1);
    if (kind === 'job') add(this.#jobs, serviceId, 1);
  }

  free(serviceId: string, kind: SlotKind): void {
    add(this.#busy, serviceId, -1);
    if (kind === 'job') add(this.#jobs, serviceId, -1);
  }

  clear(): void {
    this.#busy.clear();
    this.#jobs.clear();
  }

  /**
   * Services of one group share one card: together they run at most the largest `slots` among
   * them. Of two slots or more, one is never a job's, so that a synchronous call need not wait for
   * the end of one.
   */
  left(service: AdvertisedService, all: readonly AdvertisedService[]): FreeSlots {
    const group = all.filter(
      (other) =>
        other.service_id === service.service_id ||
        (service.slot_group !== undefined && other.slot_group === service.slot_group),
    );
    const slots = Math.max(...group.map((member) => member.slots));
    const own = service.slots - (this.#busy.get(service.service_id) ?? 0);
    const freeSlots = Math.min(own, slots - sumOf(this.#busy, group));
    const ownJobs = forJobs(service.slots) - (this.#jobs.get(service.service_id) ?? 0);
    const groupJobs = forJobs(slots) - sumOf(this.#jobs, group);
    return { freeSlots, freeJobSlots: Math.max(0, Math.min(freeSlots, ownJobs, groupJobs)) };
  }
}

function forJobs(slots: number): number {
  return slots > 1 ? slots - 1 : slots;
}

function add(counts: Map<string, number>, serviceId: string, change: 1 | -1): void {
  counts.set(serviceId, Math.max(0, (counts.get(serviceId) ?? 0) + change));
}

function sumOf(
  counts: ReadonlyMap<string, number>,
  services: readonly AdvertisedService[],
): number {
  return services.reduce((sum, { service_id: id }) => sum + (counts.get(id) ?? 0), 0);
}
