/** Creates the demo's members with keys and networks that look several weeks old. */
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { newKeySecret } from '../../accounts/key-secret.js';
import type { Created, Store } from '../../store/port.js';
import { INVITED, MEMBERS, NETWORKS, emailOf } from '../cast.js';
import type { Scene, SceneMember, SceneMachine } from '../scene.js';
import { UPTIME_DAYS } from '../../core/routing/uptime.js';
import type { LinkEndReason } from '../../core/routing/uptime.js';
import { hostOf, isOffAt, MACHINES, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { Random, seedOf } from '../random.js';

export const DAY_MS = 86_400_000;

const FOUNDED_DAYS_AGO = 45;

/** Days between two members' joining. */
const JOINED_DAYS_APART = 3;

const INVITE_DAYS = 5;

const KEY_DAYS = 90;

/** All members get the password of this hash. */
export async function foundMembers(
  store: Store,
  passwordHash: string,
  now: number,
): Promise<Scene['members']> {
  const [anna, ben, chiara, dov, emi] = await Promise.all(
    MEMBERS.map((_, index) => foundMember(store, { index, passwordHash, now })),
  );
  if (!anna || !ben || !chiara || !dov || !emi) throw new Error('the demo lacks a member');
  return { Anna: anna, Ben: ben, Chiara: chiara, Dov: dov, Emi: emi };
}

/** Network ids by name. */
export async function foundNetworks(
  store: Store,
  members: Scene['members'],
  now: number,
): Promise<ReadonlyMap<string, string>> {
  const founded = now - FOUNDED_DAYS_AGO * DAY_MS;
  const ids = new Map<string, string>();
  for (const network of NETWORKS) {
    const owner = members[network.owner];
    const { id } = created(
      await store.createNetwork({ name: network.name, ownerId: owner.id }, founded),
    );
    await Promise.all(
      network.members.map((name, index) =>
        store.joinNetwork(id, members[name].id, joinedAt(index + 1, now)),
      ),
    );
    ids.set(network.name, id);
  }
  const friends = ids.get(NETWORKS[0]?.name ?? '') ?? null;
  await invite(store, friends, now);
  return ids;
}

export function created<T>(outcome: Created<T> | { readonly kind: 'full' | 'invited' }): T {
  if (outcome.kind === 'created') return outcome.value;
  const why = outcome.kind === 'taken' ? `${outcome.field} is taken` : `row is ${outcome.kind}`;
  throw new Error(`the demo's ${why} among no members`);
}

interface NewMember {
  readonly index: number;
  readonly passwordHash: string;
  readonly now: number;
}

async function foundMember(
  store: Store,
  { index, passwordHash, now }: NewMember,
): Promise<SceneMember> {
  const { name, role, keys } = MEMBERS[index] ?? MEMBERS[0];
  const account = { name, email: emailOf(name), passwordHash, role };
  const since = joinedAt(index, now);
  const { id } = created(await store.createMember(account, since));
  const made = await Promise.all(
    keys.map(async (key, place) => {
      const { secret, kept } = newKeySecret();
      const expiresAt = place === 0 ? null : now + KEY_DAYS * DAY_MS;
      const row = { memberId: id, ...key, ...kept, expiresAt };
      const { id: keyId } = created(await store.createKey(row, since + place * DAY_MS));
      return { keyId, secret };
    }),
  );
  const keyIds = made.map(({ keyId }) => keyId);
  await store.touchKeys(keyIds, now - (index + 1) * 60_000);
  return { id, keyIds, secret: made[0]?.secret ?? '' };
}

/** The secret is thrown away: the invite only appears in lists, where it can be revoked. */
async function invite(store: Store, networkId: string | null, now: number): Promise<void> {
  const hash = hashSecret(newSecret('gwi'));
  const expiresAt = now + INVITE_DAYS * DAY_MS;
  const row = { hash, email: INVITED, role: 'member', networkId, expiresAt } as const;
  created(await store.createInvite(row, now - DAY_MS));
}

function joinedAt(index: number, now: number): number {
  return now - (FOUNDED_DAYS_AGO - index * JOINED_DAYS_APART) * DAY_MS;
}

const OFFLINE_SINCE_MS = 3_600_000;

const TOKEN_MS = 3_600_000;

interface Society {
  readonly members: Scene['members'];
  /** Network ids by name. */
  readonly networks: ReadonlyMap<string, string>;
  readonly now: number;
}

/** Creates the demo's machines: enrolled weeks ago and shared by their owners. */
export async function foundMachines(store: Store, society: Society): Promise<Scene['machines']> {
  const founded = await Promise.all(MACHINES.map((machine) => found(store, machine, society)));
  return new Map(founded.map((one) => [one.machine.name, one]));
}

/** Enrols with a join token, like a real machine. Only this process has the agent's token. */
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
  const served = { services: servicesOf(machine), host: hostOf(machine) };
  for (const [index, { from, to, reason }] of pastLinks(machine, now, seenAt).entries()) {
    const link = { providerId: id, linkId: `past-${index}` };
    await store.resumeClaims({ ...link, claimIds: [], leaseUntil: from, random: 0 }, from);
    if (to === seenAt) await store.recordServed(link, served, seenAt);
    await store.endLink({ ...link, reason }, to);
  }
  await share(store, { machine, providerId: id, token }, society);
  return { machine, providerId: id, token };
}

interface PastLink {
  readonly from: number;
  readonly to: number;
  readonly reason: LinkEndReason;
}

/** Of the last weeks: a machine that is off at night, and a loss of the connection now and then. */
function pastLinks(machine: Machine, now: number, until: number): readonly PastLink[] {
  const random = new Random(seedOf(`${machine.name} links`));
  const links: PastLink[] = [];
  let from = now - Math.min(UPTIME_DAYS, machine.enrolledDaysAgo) * DAY_MS;
  for (let at = from + HOUR_MS; at < until; at += HOUR_MS) {
    const wasOff = isOffAt(machine, at - HOUR_MS);
    if (isOffAt(machine, at) && !wasOff) {
      links.push({ from, to: at, reason: 'agent_stopped' });
      from = Infinity;
    } else if (wasOff && !isOffAt(machine, at)) {
      from = at;
    } else if (!wasOff && !isOffAt(machine, at) && random.chance(LOSS_CHANCE)) {
      links.push({ from, to: at, reason: random.pick(['connection_lost', 'no_heartbeat']) });
      from = at + random.below(HOUR_MS / 2);
    }
  }
  links.push({ from: Math.min(from, until), to: until, reason: 'coordinator_stopped' });
  return links;
}

/** In an hour. */
const LOSS_CHANCE = 0.006;

const HOUR_MS = 3_600_000;

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
