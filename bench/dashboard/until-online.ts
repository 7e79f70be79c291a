import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../fleet/fleet.js';

const POLL_MS = 20;
/** Homes that are not there by then never come. */
const WITHIN_MS = 60_000;

/** All homes of the fleet are welcomed. */
export async function untilOnline(fleet: Fleet): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (fleet.online < fleet.homes.length) {
    if (performance.now() > end) {
      throw new Error(`${fleet.online} of ${fleet.homes.length} homes are online`);
    }
    await pause(POLL_MS);
  }
}
