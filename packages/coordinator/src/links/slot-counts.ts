/** Counts a provider's taken slots, by service and share, and those left for calls and jobs. */
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import type { Choice } from '../core/routing/match.js';

/** Whether a slot is taken by a job or by a synchronous call. */
export type SlotKind = 'sync' | 'job';

/** Work that takes a slot, or several if it generates several answers at once. */
export interface SlotUse {
  readonly serviceId: string;
  readonly kind: SlotKind;
  /** The share that lets its caller in; null if the caller owns the provider. */
  readonly shareId: string | null;
  readonly slots: number;
  /** Another coordinator holds the slot for it under this number. */
  readonly want?: number;
}

/** Of a question for which the model does not run. */
export const NO_SLOTS = 0;

export interface FreeSlots {
  readonly freeSlots: number;
  /** Free slots that jobs may take. */
  readonly freeJobSlots: number;
}

export function useOf({ serviceId, grant, want }: Choice, kind: SlotKind, slots = 1): SlotUse {
  return { serviceId, kind, shareId: grant.shareId, slots, ...(want !== undefined && { want }) };
}

export class SlotCounts {
  /** Taken slots by service, and those of them that jobs take. */
  readonly #busy = new Map<string, number>();
  readonly #jobs = new Map<string, number>();
  /** Taken slots by share. */
  readonly #shares = new Map<string, number>();
  /** Slots by service that other coordinators have taken, as the holder of the link reports. */
  #elsewhere: ReadonlyMap<string, number> = new Map();
  /**
   * Group of each service with taken slots, also of services that are no longer in the last list.
   */
  readonly #groups = new Map<string, string>();

  /** By service; services without taken slots are absent. */
  get busyByService(): ReadonlyMap<string, number> {
    return this.#elsewhere.size === 0 ? this.#busy : mergedCounts(this.#busy, this.#elsewhere);
  }

  /** By share; shares without taken slots are absent. */
  get busyByShare(): ReadonlyMap<string, number> {
    return this.#shares;
  }

  /** `group` is the service's group; null if it has none. */
  take(use: SlotUse, group: string | null = null): void {
    if (group !== null) this.#groups.set(use.serviceId, group);
    this.#change(use, 1);
  }

  free(use: SlotUse): void {
    this.#change(use, -1);
  }

  /** `all`: the provider's services. */
  takenElsewhere(taken: ReadonlyMap<string, number>, all: readonly AdvertisedService[]): void {
    this.#elsewhere = taken;
    for (const { service_id: id, slot_group: group } of all) {
      if (group !== undefined && taken.has(id)) this.#groups.set(id, group);
    }
  }

  clear(): void {
    this.#elsewhere = new Map();
    this.#busy.clear();
    this.#jobs.clear();
    this.#shares.clear();
    this.#groups.clear();
  }

  /**
   * Services of one group share one card: together they run at most the largest `slots` among them,
   * including a service whose server is too busy to be in the list. If there are two slots or more,
   * one is never given to a job, so that a synchronous call need not wait for a job's end.
   */
  left(service: AdvertisedService, all: readonly AdvertisedService[]): FreeSlots {
    let { slots } = service;
    for (const other of all) {
      const isShared = service.slot_group !== undefined && other.slot_group === service.slot_group;
      if (isShared && other.slots > slots) ({ slots } = other);
    }
    const { service_id: id } = service;
    const own = service.slots - (this.#busy.get(id) ?? 0) - (this.#elsewhere.get(id) ?? 0);
    const freeSlots = Math.min(own, slots - this.busyOf(service));
    const ownJobs = forJobs(service.slots) - (this.#jobs.get(service.service_id) ?? 0);
    const groupJobs = forJobs(slots) - this.#sumOf(this.#jobs, service);
    return { freeSlots, freeJobSlots: Math.max(0, Math.min(freeSlots, ownJobs, groupJobs)) };
  }

  /** Taken slots of the service's card. */
  busyOf(service: AdvertisedService): number {
    const elsewhere = this.#elsewhere.size === 0 ? 0 : this.#sumOf(this.#elsewhere, service);
    return this.#sumOf(this.#busy, service) + elsewhere;
  }

  #change({ serviceId, kind, shareId, slots }: SlotUse, sign: 1 | -1): void {
    const change = sign * slots;
    add(this.#busy, serviceId, change);
    if (kind === 'job') add(this.#jobs, serviceId, change);
    if (shareId !== null) add(this.#shares, shareId, change);
  }

  /** Taken slots of the service and of those that share its card. */
  #sumOf(
    counts: ReadonlyMap<string, number>,
    { service_id: serviceId, slot_group: group }: AdvertisedService,
  ): number {
    let sum = 0;
    for (const [id, count] of counts) {
      const isShared = group !== undefined && this.#groups.get(id) === group;
      if (id === serviceId || isShared) sum += count;
    }
    return sum;
  }
}

function forJobs(slots: number): number {
  return slots > 1 ? slots - 1 : slots;
}

function mergedCounts(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const merged = new Map(one);
  for (const [id, count] of other) merged.set(id, (merged.get(id) ?? 0) + count);
  return merged;
}

/** Deletes counts that reach 0: agents and owners use ever new ids. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
