/**
 * A gateway of the size that most have: a few members in one network, ten simulated homes, and one
 * real agent on the mock, which runs the jobs.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { join } from 'node:path';
import { Fleet } from '../fleet/fleet.js';
import { enrollHomes } from '../fleet/enroll-homes.js';
import { CALM, drawHomes } from '../fleet/home-plan.js';
import { startSteadyHome, STEADY } from '../fleet/neighbourhood.js';
import { shareAll } from '../fleet/seed-neighbours.js';
import { startCoordinator } from '../subjects/gateway.js';
import { createMember } from './members.js';
import type { BenchMember } from './members.js';
import { untilOnline } from './until-online.js';

const HOMES = 10;

export interface Town {
  readonly origin: string;
  readonly coordinatorPid: number;
  readonly members: readonly BenchMember[];
  readonly fleet: Fleet;
}

interface Place {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  readonly members: number;
}

export async function openTown({ folder, nodeFlags, members: count }: Place): Promise<Town> {
  const data = join(folder, 'data');
  const { members, homes } = await seedTown(data, count);
  const log = join(folder, 'coordinator.log');
  const { pid, ready: origin } = await startCoordinator({ nodeFlags, data, log });
  const fleet = new Fleet(homes.slice(1), { origin, seed: CALM.seed });
  fleet.wakeAll();
  await startSteadyHome(folder, origin, homes[0]?.token ?? '');
  await untilOnline(fleet);
  return { origin, coordinatorPid: pid, members, fleet };
}

async function seedTown(data: string, count: number) {
  const store = await openStore(data);
  try {
    const owner = await createMember(store, 'owner');
    const guests: BenchMember[] = [];
    for (let i = 1; i < count; i++) guests.push(await createMember(store, `guest-${i}`));
    const plans = [STEADY, ...drawHomes({ ...CALM, homes: HOMES })];
    const homes = await enrollHomes(store, owner.id, plans);
    const guestIds = guests.map(({ id }) => id);
    await shareAll(store, homes, { ownerId: owner.id, guestIds });
    return { members: [owner, ...guests], homes };
  } finally {
    await store.close();
  }
}
