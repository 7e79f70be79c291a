/**
 * A coordinator with simulated homes, which are this process, and one real agent on the mock: the
 * home that nothing happens to.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOwn } from '../grounds.js';
import { BENCH_MODEL } from '../load/job.js';
import type { Target } from '../load/job.js';
import { stampNow } from '../load/stamp.js';
import { servicesOn, startAgent, startCoordinator } from '../subjects/gateway.js';
import { Fleet } from './fleet.js';
import { CALM, drawHomes } from './home-plan.js';
import type { HomePlan } from './home-plan.js';
import { seedNeighbours } from './seed-neighbours.js';

const STEADY_SLOTS = 64;

export interface Neighbourhood {
  /** Asleep until they are woken. */
  readonly fleet: Fleet;
  readonly coordinatorPid: number;
  /** The coordinator, as the homes' owner and as a member of their network calls it. */
  readonly owner: Target;
  readonly guest: Target;
  /** Starts the agent whose link is never cut; it serves the bench's model. */
  readonly startSteadyHome: () => Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  readonly homes: number;
}

export async function openNeighbourhood({ folder, nodeFlags, homes }: Place) {
  const data = join(folder, 'data');
  const plans = drawHomes({ ...CALM, homes });
  const seeded = await seedNeighbours(data, [STEADY, ...plans]);
  const log = join(folder, 'coordinator.log');
  const { pid, ready: origin } = await startCoordinator({ nodeFlags, data, log });
  const enrolled = seeded.homes.slice(1);
  // Tokens that tell the time tell how long an answer was under way.
  const fleet = new Fleet(enrolled, { origin, seed: CALM.seed, tongue: stampNow });
  const target = (key: string): Target => ({ origin, headers: { authorization: `Bearer ${key}` } });
  const neighbourhood: Neighbourhood = {
    fleet,
    coordinatorPid: pid,
    owner: target(seeded.ownerKey),
    guest: target(seeded.guestKey),
    startSteadyHome: () => startSteadyHome(folder, origin, seeded.homes[0]?.token ?? ''),
  };
  return neighbourhood;
}

/** Its name alone counts: a real agent says the rest. */
export const STEADY: HomePlan = {
  name: 'steady-home',
  models: [BENCH_MODEL],
  slots: STEADY_SLOTS,
  card: { firstByteMs: 0, tokensPerSecond: 1, tokens: 1, failingShare: 0 },
  upBytesPerSecond: null,
  leaves: null,
};

export async function startSteadyHome(folder: string, url: string, token: string): Promise<void> {
  const mock = await startOwn('mock', folder);
  mkdirSync(join(folder, 'agent'));
  const config = join(folder, 'agent', 'config.json');
  const services = servicesOn(mock.ready, { llm: STEADY_SLOTS });
  writeFileSync(config, JSON.stringify({ url, name: STEADY.name, services }));
  writeFileSync(`${config}.token`, token, { mode: 0o600 });
  await startAgent({ nodeFlags: [], config, log: join(folder, 'agent.log') });
}
