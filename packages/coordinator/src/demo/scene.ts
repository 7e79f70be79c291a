/** Data that the demo's parts share once the members and machines are in the store. */
import type { MemberName } from './cast.js';
import type { Machine } from './machines.js';

export interface SceneMember {
  readonly id: string;
  /** One id per key, in the order of the keys. */
  readonly keyIds: readonly string[];
  /** The secret of the first key. */
  readonly secret: string;
}

export interface SceneMachine {
  readonly machine: Machine;
  readonly providerId: string;
  /** The agent's token. */
  readonly token: string;
}

export interface Scene {
  readonly members: Readonly<Record<MemberName, SceneMember>>;
  /** By name. */
  readonly machines: ReadonlyMap<string, SceneMachine>;
}

export function machineNamed({ machines }: Scene, name: string): SceneMachine {
  const found = machines.get(name);
  if (found === undefined) throw new Error(`the demo has no machine ${name}`);
  return found;
}
