import { ApiError } from '@inference-gateway/shared/errors';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressGroup, addressNetwork } from '../../core/access/address-group.js';
import { RateLimit } from '../../core/access/rate.js';
import type { RateStanding } from '../../core/access/rate.js';

const WINDOW_MS = 60_000;

/** About 600 bytes each. Beyond it, entries with the fewest requests are dropped. */
export const MAX_ADDRESSES = 10_000;

/**
 * A network has a multiple of the limit of one of its 65,536 address groups, so that the holder of
 * a whole network cannot evade the limit, and one home in it does not use up that of the others.
 */
const NETWORK_FACTOR = 4;

/** Requests without a key per minute, per address and per IPv6 network. */
export class AddressLimit {
  readonly #addresses: RateLimit;
  readonly #networks: RateLimit;

  constructor(tries: number) {
    this.#addresses = new RateLimit(tries, WINDOW_MS, MAX_ADDRESSES);
    this.#networks = new RateLimit(NETWORK_FACTOR * tries, WINDOW_MS, MAX_ADDRESSES);
  }

  /** Throws `rate_limit_exceeded` if it is over the limit. */
  take(address: string): void {
    const now = performance.now();
    const group = addressGroup(address);
    // Refused requests of an address do not count against its network.
    const isSpent = this.#addresses.look(group, now).remaining === 0;
    if (!isSpent) refuse(this.#networks.take(addressNetwork(address), now), 'network');
    refuse(this.#addresses.take(group, now), 'address');
  }
}

function refuse({ allowed, limit, retryAfterS }: RateStanding, what: string): void {
  if (allowed) return;
  const message =
    `Your ${what} has tried ${limit} times within a minute, which is all it may. ` +
    `Try again in ${retryAfterS} seconds.`;
  throw new ApiError('rate_limit_exceeded', message, { retryAfterS });
}

/** `http://127.0.0.1:7070`: the configured host, with the actual port. */
export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
