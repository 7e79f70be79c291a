/** How many runs a service may have at once, and the services that share its card. */

interface SlotOwner {
  readonly serviceId: string;
  readonly slots: number;
  /**
   * Services of one group share one card: together they run at most the largest `slots` among
   * them.
   */
  readonly slotGroup: string | null;
}

export class Slots {
  readonly #busy = new Map<string, number>();

  /** Takes a slot among these services for one of them; null where none is free. */
  take(owner: SlotOwner, all: readonly SlotOwner[]): { release(): void } | null {
    if (this.busy(owner.serviceId) >= owner.slots || this.#groupIsFull(owner, all)) return null;
    this.#busy.set(owner.serviceId, this.busy(owner.serviceId) + 1);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#busy.set(owner.serviceId, this.busy(owner.serviceId) - 1);
      },
    };
  }

  busy(serviceId: string): number {
    return this.#busy.get(serviceId) ?? 0;
  }

  #groupIsFull(owner: SlotOwner, all: readonly SlotOwner[]): boolean {
    if (owner.slotGroup === null) return false;
    const group = all.filter((other) => other.slotGroup === owner.slotGroup);
    const taken = group.reduce((sum, other) => sum + this.busy(other.serviceId), 0);
    return taken >= Math.max(...group.map((other) => other.slots));
  }
}
