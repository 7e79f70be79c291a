/** The part of the contract that is about sessions of browsers. */
import type {
  MemberSession,
  NewMemberSession,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createMember, randomHex, sha256 } from './store-rows.js';

const MINUTE_MS = 60_000;
const EXPIRES_AT = NOW + 1_000 * MINUTE_MS;
/** The adapters' limit for one member. */
const MAX_SESSIONS = 100;

export function describeSessions(adapter: string, store: () => Store): void {
  const logIn = async (
    memberId: string,
    { now = NOW, ...overrides }: Partial<NewMemberSession> & { now?: number } = {},
  ): Promise<{ readonly session: MemberSession; readonly hash: string }> => {
    const hash = sha256(randomHex());
    const client = { address: '192.0.2.1', userAgent: 'Firefox' };
    const proof = { memberId, passwordHash: null };
    const row = { hash, ...proof, ...client, expiresAt: EXPIRES_AT, ...overrides };
    const session = await store().createSession(row, now);
    if (session === null) throw new Error(`${memberId} was not let in`);
    return { session, hash };
  };
  const use = (hash: string, now: number) => store().useSession(hash, '192.0.2.9', now);

  test(`${adapter}: a feed has one token at a time, for an enabled member`, async () => {
    const anna = await createMember(store(), 'anna');
    expect(await store().feedMadeAt(anna.id)).toBeNull();
    expect(await store().setFeed(anna.id, null, NOW)).toBe(false);
    expect(await store().setFeed(anna.id, sha256('one'), NOW)).toBe(true);
    expect(await audited(store(), 'feed.create')).toHaveLength(1);
    expect(await store().setFeed(anna.id, sha256('two'), NOW + 1)).toBe(true);
    expect(await store().findFeedOwner(sha256('one'))).toBeNull();
    expect(await store().findFeedOwner(sha256('two'))).toEqual(anna);
    expect(await store().feedMadeAt(anna.id)).toBe(NOW + 1);
    await store().changeMember(anna.id, { disabled: true }, NOW);
    expect(await store().findFeedOwner(sha256('two'))).toBeNull();
    await store().changeMember(anna.id, { disabled: false }, NOW);
    expect(await store().setFeed(anna.id, null, NOW)).toBe(true);
    expect(await store().findFeedOwner(sha256('two'))).toBeNull();
    expect(await store().setFeed('nobody', sha256('three'), NOW)).toBe(false);
  });

  describe(`${adapter}: sessions`, () => {
    test('a session is used by its hash until it is over', async () => {
      const anna = await createMember(store(), 'anna');
      const { session, hash } = await logIn(anna.id, { expiresAt: NOW + 9 });
      expect(session).toMatchObject({ memberId: anna.id, memberName: 'anna', createdAt: NOW });
      expect(session).toMatchObject({ address: '192.0.2.1', lastUsedAt: NOW, expiresAt: NOW + 9 });
      expect(await use(hash, NOW + 8)).toEqual({ session, member: anna });
      expect(await use(hash, NOW + 9)).toBeNull();
      expect(await use(sha256('another'), NOW)).toBeNull();
    });

    test('a use is noted with its address and lengthens it, at most once a minute', async () => {
      const anna = await createMember(store(), 'anna');
      const { session, hash } = await logIn(anna.id);
      expect((await use(hash, NOW + MINUTE_MS - 1))?.session).toEqual(session);
      const used = { address: '192.0.2.9', lastUsedAt: NOW + MINUTE_MS };
      const noted = { ...session, ...used, expiresAt: EXPIRES_AT + MINUTE_MS };
      expect((await use(hash, NOW + MINUTE_MS))?.session).toEqual(noted);
      expect((await use(hash, NOW + MINUTE_MS + 1))?.session).toEqual(noted);
      expect(await store().listSessions(anna.id, NOW)).toEqual([noted]);
    });

    test('those that are not over are listed, of one member or of all, newest first', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const first = await logIn(anna.id);
      const second = await logIn(anna.id);
      const bens = await logIn(ben.id, { expiresAt: NOW + 5 });
      const list = async (memberId: string | null, now: number) =>
        (await store().listSessions(memberId, now)).map(({ id }) => id);
      expect(await list(null, NOW)).toEqual([bens, second, first].map((one) => one.session.id));
      expect(await list(anna.id, NOW)).toEqual([second.session.id, first.session.id]);
      expect(await list(ben.id, NOW + 5)).toEqual([]);
    });

    test.each([
      ['disabled', { disabled: true }],
      ['given a new password', { passwordHash: '$scrypt$new' }],
    ])('a member who is %s has no session any more, and others keep theirs', async (_, change) => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const [annas, bens] = [await logIn(anna.id), await logIn(ben.id)];
      await store().changeMember(anna.id, { role: 'admin', name: 'ann' }, NOW);
      expect(await use(annas.hash, NOW)).toMatchObject({ member: { name: 'ann', role: 'admin' } });
      await store().changeMember(anna.id, change, NOW);
      expect(await use(annas.hash, NOW)).toBeNull();
      expect(await store().listSessions(null, NOW)).toEqual([bens.session]);
    });

    test.each([
      ['a disabling', { disabled: true }],
      ['a new password', { passwordHash: '$scrypt$new' }],
    ])('a log-in that %s has overtaken is no way in, then or later', async (_, change) => {
      const anna = await createMember(store(), 'anna');
      await store().changeMember(anna.id, { passwordHash: '$scrypt$old' }, NOW);
      await store().changeMember(anna.id, change, NOW);
      const hash = sha256(randomHex());
      const proof = { memberId: anna.id, passwordHash: '$scrypt$old' };
      const row = { hash, ...proof, address: '', userAgent: '', expiresAt: EXPIRES_AT };
      expect(await store().createSession(row, NOW)).toBeNull();
      await store().changeMember(anna.id, { disabled: false }, NOW);
      expect(await use(hash, NOW)).toBeNull();
    });

    test('one session too many ends the oldest of its member', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const bens = await logIn(ben.id);
      const annas = await Promise.all(
        Array.from({ length: MAX_SESSIONS + 2 }, (_, i) => logIn(anna.id, { now: NOW + i })),
      );
      const left = (await store().listSessions(anna.id, NOW)).map(({ id }) => id);
      const newest = annas.slice(2).map(({ session }) => session.id);
      expect(left).toEqual(newest.toReversed());
      expect(await use(bens.hash, NOW)).not.toBeNull();
    });

    test('one ends by its id, all by their member, and how many is written down', async () => {
      const anna = await createMember(store(), 'anna');
      const made = [await logIn(anna.id), await logIn(anna.id), await logIn(anna.id)];
      await logIn(anna.id, { expiresAt: NOW + 1 });
      const id = made[0]?.session.id ?? '';
      const by = store().by('member:anna');
      expect(await by.endSessions({ id }, NOW + 1)).toBe(1);
      expect(await by.endSessions({ id }, NOW + 1)).toBe(0);
      expect(await by.endSessions({ memberId: 'nobody' }, NOW + 1)).toBe(0);
      expect(await by.endSessions({ memberId: anna.id }, NOW + 1)).toBe(2);
      expect(await store().listSessions(null, 0)).toEqual([]);
      for (const { hash } of made) expect(await use(hash, NOW + 1)).toBeNull();
      const [name, action] = [anna.email, 'session.end'];
      const entry = { actor: 'member:anna', action, before: null };
      expect(await audited(store(), 'session')).toEqual([
        { ...entry, subject: { kind: 'user', id: anna.id, name }, after: { ended: 2 } },
        { ...entry, subject: { kind: 'session', id, name }, after: { ended: 1 } },
      ]);
    });
  });
}
