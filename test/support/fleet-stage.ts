/** Simulated homes of `bench/fleet` in a test. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onTestFinished } from 'vitest';
import { enrollHomes } from '../../bench/fleet/enroll-homes.js';
import type { EnrolledHome } from '../../bench/fleet/enroll-homes.js';
import { Fleet } from '../../bench/fleet/fleet.js';
import type { HomePlan } from '../../bench/fleet/home-plan.js';
import type { TestGateway } from './gateway.js';
import type { Stage } from './process-stage.js';
import { until } from './until.js';

/** A home that answers at once and has no faults. */
export const HOME: HomePlan = {
  name: 'home-0',
  models: ['m'],
  slots: 4,
  card: { firstByteMs: 1, tokensPerSecond: 1_000, tokens: 12, failingShare: 0 },
  upBytesPerSecond: null,
  leaves: null,
};

/** Anna's homes on a running gateway, all online; they go to sleep when the test ends. */
export async function startFleet(gateway: TestGateway, plans: readonly HomePlan[]): Promise<Fleet> {
  const homes = plans.map(async (plan) => {
    return { plan, providerId: plan.name, token: await gateway.anna.enroll(plan.name) };
  });
  const fleet = newFleet(await Promise.all(homes), gateway.address);
  await allOnline(fleet);
  return fleet;
}

/** Enrolls homes of the first member on a stage whose coordinator does not run yet. */
export async function enrollOn(
  { dataDir }: Stage,
  plans: readonly HomePlan[],
): Promise<readonly EnrolledHome[]> {
  const store = await openStore(dataDir);
  const [owner] = await store.listMembers();
  const homes = await enrollHomes(store, owner?.id ?? '', plans);
  await store.close();
  return homes;
}

/** Homes that sleep until they are woken; they go back to sleep when the test ends. */
export function newFleet(homes: readonly EnrolledHome[], origin: string, seed = 1): Fleet {
  const fleet = new Fleet(homes, { origin, seed });
  onTestFinished(() => fleet.sleepAll());
  return fleet;
}

/** Wakes all sleeping homes; resolves when all are online. */
export async function allOnline(fleet: Fleet): Promise<void> {
  fleet.wakeAll();
  const what = 'all homes online';
  await until(() => fleet.online === fleet.homes.length, { timeoutMs: 60_000, what });
}
