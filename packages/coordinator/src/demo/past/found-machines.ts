/** The demo's machines, enrolled weeks ago and shared by their owners. */
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { Store } from '../../store/port.js';
import { MACHINES, hostOf, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import type { Scene, SceneMachine } from '../scene.js';
import { DAY_MS } from './found-members.js';

const OFFLINE_SINCE_MS = 3_600_000;
const TOKEN_MS = 3_600_000;

interface Society {
  readonly members: Scene['members'];
  /** Ids of networks by name. */
  readonly networks: ReadonlyMap<string, string>;
  readonly now: number;
}

export async function foundMachines(store: Store, society: Society): Promise<Scene['machines']> {
  const founded = await Promise.all(MACHINES.map((machine) => found(store, machine, society)));
  return new Map(founded.map((one) => [one.machine.name, one]));
}

/** By a join token, as a real one; its agent's token is known to this process alone. */
async function found(store: Store, machine: Machine, society: Society): Promise<SceneMachine> {
  const { members, now } = society;
  const enrolledAt = now - machine.enrolledDaysAgo * DAY_MS;
  const [joinTokenHash, token] = [hashSecret(newSecret('gwj')), newSecret('gwa')];
  const { id: ownerId } = members[machine.owner];
  const join = { ownerId, name: machine.name, hash: joinTokenHash, replaces: null };
  await store.createJoinToken({ ...join, expiresAt: enrolledAt + TOKEN_MS }, enrolledAt);
  const enrolment = { joinTokenHash, tokenHash: hashSecret(token), name: null, approved: true };
  const outcome = await store.enroll(enrolment, enrolledAt);
  if (outcome.kind !== 'created') throw new Error(`${machine.name} did not enrol`);
  const { id } = outcome.value;
  const seenAt = machine.state === 'offline' ? now - OFFLINE_SINCE_MS : now;
  const seen = { services: servicesOf(machine), host: hostOf(machine) };
  await store.recordProviderSeen(id, seen, seenAt);
  await share(store, { machine, providerId: id, token }, society);
  return { machine, providerId: id, token };
}

async function share(
  store: Store,
  { machine, providerId }: SceneMachine,
  { networks, now }: Society,
): Promise<void> {
  const sharedAt = now - (machine.enrolledDaysAgo - 1) * DAY_MS;
  for (const { network, model, slots } of machine.shares) {
    const subject = { serviceId: null, model };
    const audience = { kind: 'network', id: networks.get(network) ?? '' } as const;
    const caps = { slots, hours: null, maxTokens: null };
    await store.putShare({ providerId, subject, audience, caps }, sharedAt);
  }
}
