/** The demo: fills an empty store with members, machines and history, then simulates activity. */
import { hashPassword } from '../accounts/password.js';
import type { Store } from '../store/port.js';
import { DemoAgent } from './link/demo-agent.js';
import { foundMachines, foundMembers, foundNetworks } from './past/found-members.js';
import { recordPast } from './past/record-past.js';
import type { Scene } from './scene.js';
import { Visitors } from './visitors/visitors.js';

interface Foundation {
  readonly dataDir: string;
  /** How long files are kept. */
  readonly retentionMs: number;
  /** The password of every member. */
  readonly password: string;
  readonly now: number;
}

/** Needs a store without members that no other process uses. */
export async function foundDemo(store: Store, foundation: Foundation): Promise<Scene> {
  const { dataDir, retentionMs, password, now } = foundation;
  const members = await foundMembers(store, await hashPassword(password), now);
  const networks = await foundNetworks(store, members, now);
  const machines = await foundMachines(store, { members, networks, now });
  const scene = { members, machines };
  await recordPast(store, { scene, dataDir, retentionMs, now });
  return scene;
}

export interface LivingDemo {
  /** Immediate: closes links and abandons calls. */
  stop(): void;
}

/** `origin`: the address at which the coordinator listens. */
export function enliven(scene: Scene, origin: string): LivingDemo {
  const present = [...scene.machines.values()].filter(({ machine }) => machine.state !== 'offline');
  const agents = present.map((one) => new DemoAgent(origin, one));
  const visitors = new Visitors(origin, scene);
  return {
    stop() {
      visitors.stop();
      for (const agent of agents) agent.stop();
    },
  };
}
