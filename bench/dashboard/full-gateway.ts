/**
 * A gateway with much in it: 10,000 jobs of one of ten members, 500 models online, and 100,000
 * rows of usage.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { enrollHomes } from '../fleet/enroll-homes.js';
import { Fleet } from '../fleet/fleet.js';
import type { HomePlan } from '../fleet/home-plan.js';
import { shareAll } from '../fleet/seed-neighbours.js';
import { MEMBERS, seed } from '../jobs/tables/seed.js';
import type { Seeded } from '../jobs/tables/seed.js';
import { startCoordinator } from '../subjects/gateway.js';
import type { DashboardRound } from './dashboard-round.js';
import { createMember, logIn } from './members.js';
import type { Session } from './members.js';
import { seedUsage } from './seed-usage.js';
import { untilOnline } from './until-online.js';

const SEED = 1;
const MODELS_A_HOME = 10;
/** Each model is served by so many homes. */
const HOMES_A_MODEL = 2;

export interface FullGateway {
  readonly origin: string;
  /** The member who owns the jobs and shares a network with every home. */
  readonly session: Session;
  readonly admin: Session;
  /** A job from the middle of theirs. */
  readonly middleJob: string;
  readonly fleet: Fleet;
}

interface Place {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
}

export async function openFullGateway(
  { folder, nodeFlags }: Place,
  round: DashboardRound,
): Promise<FullGateway> {
  const data = join(folder, 'full');
  mkdirSync(data, { mode: 0o700 });
  const jobs = await seed(data, round.size.jobs * MEMBERS);
  const { homes, session, admin, memberIds } = await addPeople(data, jobs, round.size.models);
  round.say(`${round.size.usageRows.toLocaleString('en-US')} rows of usage are being written`);
  seedUsage(data, round.size.usageRows, { memberIds, homes });
  const log = join(folder, 'full.log');
  const { ready: origin } = await startCoordinator({ nodeFlags, data, log });
  const fleet = new Fleet(homes, { origin, seed: SEED });
  fleet.wakeAll();
  await untilOnline(fleet);
  const middleJob = jobs.ids[Math.floor(jobs.ids.length / 2)] ?? '';
  return { origin, session, admin, middleJob, fleet };
}

/** The homes belong to another member; the owner of the jobs uses them. */
async function addPeople(data: string, { memberId }: Seeded, models: number) {
  const store = await openStore(data);
  try {
    const memberIds = (await store.listMembers()).map(({ id }) => id);
    const ownerId = memberIds.find((id) => id !== memberId) ?? '';
    const homes = await enrollHomes(store, ownerId, plan(models));
    await shareAll(store, homes, { ownerId, guestIds: [memberId] });
    const session = await logIn(store, memberId);
    const { session: admin } = await createMember(store, 'admin', 'admin');
    return { homes, session, admin, memberIds };
  } finally {
    await store.close();
  }
}

function plan(models: number): HomePlan[] {
  const homes = Math.ceil((models * HOMES_A_MODEL) / MODELS_A_HOME);
  return Array.from({ length: homes }, (_, home) => ({
    name: `home-${home}`,
    models: Array.from(
      { length: MODELS_A_HOME },
      (_, i) => `model-${(home * MODELS_A_HOME + i) % models}:8b-instruct-q4_K_M`,
    ),
    slots: 2,
    card: { firstByteMs: 50, tokensPerSecond: 50, tokens: 40, failingShare: 0 },
    upBytesPerSecond: null,
    leaves: null,
  }));
}
