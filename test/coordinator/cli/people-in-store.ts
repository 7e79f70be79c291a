/** A store with two members and their belongings, for an administrator's commands. */
import type {
  Member,
  MemberSession,
  Provider,
  Store,
} from '@inference-gateway/coordinator/store/port';
import {
  createKey,
  createMember,
  createProvider,
  created,
  randomHex,
  sha256,
} from '../../store/store-rows.js';

const HOUR_MS = 3_600_000;

export interface People {
  readonly anna: Member;
  readonly ben: Member;
  /** Anna's `den-pc`. */
  readonly provider: Provider;
  /** Two of Anna's and one of Ben's; oldest first. */
  readonly sessions: readonly MemberSession[];
}

/** Anna has a machine, a live key and a revoked one, owns `friends`, and blocks Ben. */
export async function fillWithPeople(store: Store): Promise<People> {
  const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
  const provider = await createProvider(store, { ownerId: anna.id });
  await createKey(store, anna.id, { name: 'laptop' });
  const { key } = await createKey(store, anna.id, { name: 'old' });
  await store.setKeyState(key.id, 'revoked', Date.now());
  const friends = created(await store.createNetwork({ name: 'friends', ownerId: anna.id }, 1));
  await store.joinNetwork(friends.id, ben.id, 2);
  await store.blockMember({ ownerId: anna.id, memberId: ben.id }, 3);
  const sessions = [await logIn(store, anna), await logIn(store, anna), await logIn(store, ben)];
  return { anna, ben, provider, sessions };
}

async function logIn(store: Store, { id: memberId }: Member): Promise<MemberSession> {
  const now = Date.now();
  const session = {
    memberId,
    address: '203.0.113.7',
    userAgent: 'Firefox',
    expiresAt: now + HOUR_MS,
  };
  const row = { ...session, passwordHash: null, hash: sha256(randomHex()) };
  const made = await store.createSession(row, now);
  if (made === null) throw new Error('the member was not let in');
  return made;
}
