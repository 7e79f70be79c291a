import { ApiError } from '@inference-gateway/shared/errors';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressGroup, addressNetwork } from '../../core/access/address-group.js';
import { RateLimit } from '../../core/access/rate.js';
import type { RateStanding } from '../../core/access/rate.js';

const WINDOW_MS = 60_000;

/** Some 600 bytes each. Beyond it, those with the fewest tries are forgotten. */
export const MAX_ADDRESSES = 10_000;

/**
 * A network has a multiple of the tries of one of its 65,536 addresses, so that nobody who holds
 * it whole evades the limit, and one home in it does not use up the tries of the others.
 */
const NETWORK_FACTOR = 4;

/** What one address, and one IPv6 network, may try within a minute, of what takes no key. */
export class AddressLimit {
  readonly #addresses: RateLimit;
  readonly #networks: RateLimit;

  constructor(tries: number) {
    this.#addresses = new RateLimit(tries, WINDOW_MS, MAX_ADDRESSES);
    this.#networks = new RateLimit(NETWORK_FACTOR * tries, WINDOW_MS, MAX_ADDRESSES);
  }

  /** Throws `rate_limit_exceeded` where it is one too many. */
  take(address: string): void {
    const now = performance.now();
    const group = addressGroup(address);
    // What an address is refused does not count against its network.
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

/** `http://127.0.0.1:7070`: the host that was asked for, with the port that was given. */
export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
