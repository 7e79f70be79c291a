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
  /** Of a group: a service that has left the list has the card until its work is done. */
  readonly #busyInGroup = new Map<string, number>();

  /** Takes a slot among these services for one of them; null where none is free. */
  take(owner: SlotOwner, all: readonly SlotOwner[]): { release(): void } | null {
    if (this.busy(owner.serviceId) >= owner.slots || this.#groupIsFull(owner, all)) return null;
    this.#count(owner, 1);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#count(owner, -1);
      },
    };
  }

  busy(serviceId: string): number {
    return this.#busy.get(serviceId) ?? 0;
  }

  #groupIsFull({ slotGroup }: SlotOwner, all: readonly SlotOwner[]): boolean {
    if (slotGroup === null) return false;
    const group = all.filter((other) => other.slotGroup === slotGroup);
    return this.#takenIn(slotGroup) >= Math.max(...group.map((other) => other.slots));
  }

  #takenIn(slotGroup: string): number {
    return this.#busyInGroup.get(slotGroup) ?? 0;
  }

  #count({ serviceId, slotGroup }: SlotOwner, change: 1 | -1): void {
    this.#busy.set(serviceId, this.busy(serviceId) + change);
    if (slotGroup !== null) this.#busyInGroup.set(slotGroup, this.#takenIn(slotGroup) + change);
  }
}
