/**
 * The concurrent calls of a member whose calls reach several coordinators: each has a part of the
 * slots, which together never exceed the limit. Pure rules; the database keeps the pool, and has
 * the clock.
 */
import { chunkOf, LEASE_MS, othersOf } from './rate-pool.js';
import type { AskedBy, Leases } from './rate-pool.js';

export interface SlotPool {
  readonly leases: Leases<{ readonly slots: number; readonly needs: number }>;
}

export interface SlotAsk {
  readonly subject: string;
  readonly limit: number;
  /** Calls that run. */
  readonly running: number;
  /** These and the calls that wait for a slot; 0: all slots are given back. */
  readonly needs: number;
}

export interface SlotLease {
  readonly slots: number;
  /** What it may keep while others need more: those beyond it are not used again. */
  readonly share: number;
  /** Of the slots, those that nobody needs now. */
  readonly spare: number;
}

export const NO_CALLS: SlotPool = { leases: {} };

export function leaseSlots(
  pool: SlotPool,
  ask: SlotAsk,
  by: AskedBy,
): { readonly pool: SlotPool; readonly lease: SlotLease } {
  const { limit, running, needs } = ask;
  const others = othersOf(pool.leases, by);
  const all = Object.values(others);
  const free = Math.max(0, limit - all.reduce((sum, { slots }) => sum + slots, 0));
  // Half of a chunk: those that become free are given back from twice as many.
  const spare = Math.floor(chunkOf(limit, all.length + 1) / 2);
  const share = fairShare(limit, [needs, ...all.map((other) => other.needs)]);
  const wanted = needs === 0 ? 0 : Math.max(running, Math.min(needs + spare, share));
  const slots = Math.min(free, wanted);
  const own = slots + needs === 0 ? {} : { [by.holder]: { slots, needs, until: by.at + LEASE_MS } };
  return { pool: { leases: { ...others, ...own } }, lease: { slots, share, spare } };
}

/**
 * What none may exceed where not all can have what they need: those who need less leave the rest to
 * the others, in equal parts. The limit, if it suffices for all.
 */
function fairShare(limit: number, needs: readonly number[]): number {
  let left = limit;
  let sharers = needs.length;
  for (const need of needs.toSorted((one, other) => one - other)) {
    const part = Math.max(1, Math.floor(left / sharers));
    if (need > part) return part;
    left -= need;
    sharers -= 1;
  }
  return limit;
}
