/**
 * The slots for concurrent calls of a coordinator that shares its database with others: it takes a
 * few more than a member needs, asks when they do not suffice, and gives back what is idle.
 */
import { LEASE_MS } from '../core/access/rate-pool.js';
import type { SlotAsk, SlotLease } from '../core/access/slot-pool.js';

/** Answers each, in order. Throws `storage_unavailable`. */
export type AskSlots = (asks: readonly SlotAsk[]) => Promise<readonly SlotLease[]>;

/** While calls wait, the slots of other coordinators are looked at this often. */
const RETRY_MS = 500;

/** A member's calls at this coordinator. */
export interface SlotDemand {
  readonly limit: number;
  readonly running: number;
  readonly waiting: number;
}

/** Whose calls take the slots. */
export interface SlotUser {
  /** Null: it has none. */
  demandOf(memberId: string): SlotDemand | null;
  /** The member may have more slots than before. */
  changed(memberId: string): void;
  /** Calls that wait cannot get a slot. */
  failed(memberId: string, error: unknown): void;
}

interface Held extends SlotLease {
  readonly limit: number;
  /** Calls that were to run. */
  readonly needs: number;
  /** Monotonic ms. */
  readonly validUntil: number;
}

export class SharedSlots {
  readonly #ask: AskSlots;
  /** Monotonic ms. */
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, ReturnType<typeof setTimeout>>();
  /** Members that have had calls since the last renewal. */
  readonly #active = new Set<string>();
  #user: SlotUser | null = null;
  #isClosed = false;

  constructor(ask: AskSlots, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  /** Called once, before all others. */
  serve(user: SlotUser): void {
    this.#user = user;
  }

  /** How many calls of the member may run here now. */
  of(memberId: string): number {
    const held = this.#held.get(memberId);
    if (held === undefined || this.#now() >= held.validUntil) return 0;
    return Math.min(held.slots, held.share);
  }

  /** A call waits for a slot: asks for more, unless that was refused a moment ago. */
  wanted(memberId: string): void {
    const held = this.#held.get(memberId);
    const hasAll = held !== undefined && this.of(memberId) >= this.#demandOf(memberId).limit;
    if (!hasAll && !this.#retries.has(memberId)) void this.#askNow([memberId]);
  }

  /** A call began. */
  entered(memberId: string): void {
    this.#active.add(memberId);
  }

  /** A call has ended: gives back slots if many are idle. */
  left(memberId: string): void {
    const held = this.#held.get(memberId);
    if (held === undefined) return;
    const { running, waiting } = this.#demandOf(memberId);
    // The lease may have ended while the database was away.
    if (waiting > 0 && running >= this.of(memberId)) this.wanted(memberId);
    const used = Math.max(running, Math.min(running + waiting, held.share));
    if (held.slots - used > 2 * held.spare) void this.#askNow([memberId]);
  }

  /** Called a few times within `LEASE_MS`. */
  async renew(): Promise<void> {
    await this.#askNow([...this.#held.keys()]);
    this.#active.clear();
  }

  /** Gives back all slots. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const retry of this.#retries.values()) clearTimeout(retry);
    this.#retries.clear();
    await Promise.all(this.#asking.values());
    await this.#askNow([...this.#held.keys()]);
  }

  /** Never rejects. One question at a time for each. */
  async #askNow(members: readonly string[]): Promise<void> {
    const free = members.filter((memberId) => !this.#asking.has(memberId));
    if (free.length === 0) return;
    const asking = this.#askFor(free).catch((error: unknown) => {
      for (const memberId of free) this.#user?.failed(memberId, error);
    });
    for (const memberId of free) this.#asking.set(memberId, asking);
    await asking;
    for (const memberId of free) this.#asking.delete(memberId);
    for (const memberId of free) this.#lookAgain(memberId);
  }

  async #askFor(members: readonly string[]): Promise<void> {
    const sentAt = this.#now();
    const asks = members.map((memberId) => this.#askOf(memberId));
    const leases = await this.#ask(asks);
    members.forEach((memberId, index) => {
      const [ask, lease] = [asks[index], leases[index]];
      if (ask === undefined || lease === undefined) return;
      const isOver = lease.slots === 0 && ask.needs === 0;
      if (isOver) this.#held.delete(memberId);
      else {
        const { limit, needs } = ask;
        this.#held.set(memberId, { ...lease, limit, needs, validUntil: sentAt + LEASE_MS });
      }
    });
    for (const memberId of members) this.#user?.changed(memberId);
  }

  #askOf(memberId: string): SlotAsk {
    const { limit, running, waiting } = this.#demandOf(memberId);
    const held = this.#held.get(memberId);
    // Calls that come one after the other find the slot of the last one.
    const isKept = !this.#isClosed && held !== undefined && held.spare > 0;
    const idle = isKept && this.#active.has(memberId) ? 1 : 0;
    const needs = Math.min(limit, Math.max(running + waiting, idle));
    return { subject: memberId, limit, running, needs };
  }

  #demandOf(memberId: string): SlotDemand {
    const limit = this.#held.get(memberId)?.limit ?? 0;
    return this.#user?.demandOf(memberId) ?? { limit, running: 0, waiting: 0 };
  }

  /** What changed while it was asked; and what was refused, after a while. */
  #lookAgain(memberId: string): void {
    if (this.#isClosed) return;
    if (this.#demandOf(memberId).waiting === 0) return this.left(memberId);
    const held = this.#held.get(memberId);
    const isRefused = held === undefined || held.slots < held.needs || held.share < held.needs;
    if (!isRefused) return this.wanted(memberId);
    if (this.#retries.has(memberId)) return;
    const retry = setTimeout(() => {
      this.#retries.delete(memberId);
      if (this.#demandOf(memberId).waiting > 0) this.wanted(memberId);
    }, RETRY_MS);
    this.#retries.set(memberId, retry);
  }
}
