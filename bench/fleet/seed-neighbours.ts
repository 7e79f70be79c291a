/** The members and homes of a bench, in a fresh data folder that no coordinator has open. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { enrollHomes } from './enroll-homes.js';
import type { EnrolledHome } from './enroll-homes.js';
import type { HomePlan } from './home-plan.js';

export interface Neighbours {
  /** Of the member who owns every home. */
  readonly ownerKey: string;
  /** Of one who owns none, and sees all of them through one network. */
  readonly guestKey: string;
  readonly homes: readonly EnrolledHome[];
}

export async function seedNeighbours(
  dataFolder: string,
  plans: readonly HomePlan[],
): Promise<Neighbours> {
  const store = await openStore(dataFolder);
  try {
    const owner = await createMember(store, 'fleet-owner');
    const guest = await createMember(store, 'fleet-guest');
    const homes = await enrollHomes(store, owner.id, plans);
    await shareAll(store, homes, { ownerId: owner.id, guestIds: [guest.id] });
    return { ownerKey: owner.key, guestKey: guest.key, homes };
  } finally {
    await store.close();
  }
}

async function createMember(store: Store, name: string): Promise<{ id: string; key: string }> {
  const now = Date.now();
  const about = { email: `${name}@example.com`, name, role: 'member' } as const;
  const made = await store.createMember({ ...about, passwordHash: null }, now);
  if (made.kind !== 'created') throw new Error(`the member ${name} is there already`);
  const key = newSecret('gwk');
  const rights = { hash: hashSecret(key), scope: 'any', expiresAt: null } as const;
  const memberId = made.value.id;
  await store.createKey({ memberId, name: 'fleet', prefix: key.slice(0, 8), ...rights }, now);
  return { id: memberId, key };
}

interface Sides {
  /** Of the homes, and of the network. */
  readonly ownerId: string;
  readonly guestIds: readonly string[];
}

/** Each home with one network, without caps. */
export async function shareAll(
  store: Store,
  homes: readonly EnrolledHome[],
  { ownerId, guestIds }: Sides,
): Promise<void> {
  const now = Date.now();
  const made = await store.createNetwork({ name: 'fleet', ownerId }, now);
  if (made.kind !== 'created') throw new Error('the network "fleet" is there already');
  const { id } = made.value;
  for (const guestId of guestIds) await store.joinNetwork(id, guestId, now);
  const audience = { kind: 'network', id } as const;
  const share = { subject: WHOLE_PROVIDER, audience, caps: NO_CAPS };
  await Promise.all(homes.map(({ providerId }) => store.putShare({ providerId, ...share }, now)));
}

const WHOLE_PROVIDER = { serviceId: null, model: null };
const NO_CAPS = { slots: null, hours: null, maxTokens: null };
