/** The part of the contract that is about passkeys, accounts of providers, and reset links. */
import type {
  NewPasskey,
  OidcArrival,
  SpentChallenge,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { NOW, createMember, created, randomHex, sha256 } from './store-rows.js';

const LATER = NOW + 1_000;
const ISSUER = 'https://id.example.org';

function spent(expiresAt = LATER): SpentChallenge {
  return { hash: sha256(randomHex()), expiresAt };
}

function browser() {
  return { hash: sha256(randomHex()), address: '', userAgent: '', expiresAt: LATER };
}

function newPasskey(memberId: string, changes: Partial<NewPasskey> = {}): NewPasskey {
  return {
    memberId,
    name: 'phone',
    credentialId: randomHex(),
    publicKey: new Uint8Array([1, 2, 255]),
    counter: 0,
    transports: ['internal'],
    cap: 2,
    spent: spent(),
    ...changes,
  };
}

function arrival(subject: string, changes: Partial<OidcArrival> = {}): OidcArrival {
  return {
    issuer: ISSUER,
    subject,
    email: `${subject}@home.example`,
    names: [subject, `${subject}-2`],
    role: null,
    inviteHash: null,
    isOfDomain: true,
    spent: spent(),
    ...changes,
  };
}

const refused = (reason: string) => ({ kind: 'refused', reason });

export function describeLogIns(adapter: string, store: () => Store): void {
  const passkeysOf = async (id: string) => (await store().logInMethods(id))?.passkeys ?? [];
  const arrive = (who: OidcArrival) => store().logInByOidc(who, browser(), NOW);

  describe(`${adapter}: passkeys`, () => {
    test('one is added once, up to the cap, and found while its member is enabled', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const first = newPasskey(anna.id);
      expect(await store().addPasskey(first, NOW)).toEqual({ kind: 'added' });
      const { cap: _, spent: used, ...kept } = first;
      const [passkey] = await passkeysOf(anna.id);
      expect(passkey).toMatchObject({ ...kept, publicKey: expect.anything(), lastUsedAt: null });
      expect([...(passkey?.publicKey ?? [])]).toEqual([1, 2, 255]);
      const again = newPasskey(anna.id, { spent: used });
      expect(await store().addPasskey(again, NOW)).toEqual({ kind: 'spent' });
      const late = newPasskey(anna.id, { spent: spent(NOW) });
      expect(await store().addPasskey(late, NOW)).toEqual({ kind: 'spent' });
      const known = newPasskey(ben.id, { credentialId: first.credentialId });
      expect(await store().addPasskey(known, NOW)).toEqual({ kind: 'known' });
      await store().addPasskey(newPasskey(anna.id), NOW);
      const over = await store().addPasskey(newPasskey(anna.id), NOW);
      expect(over).toEqual({ kind: 'full', count: 2 });
      expect(await store().findPasskey(first.credentialId)).toEqual(passkey);
      await store().changeMember(anna.id, { disabled: true }, NOW);
      expect(await store().findPasskey(first.credentialId)).toBeNull();
    });

    test('it logs in with a counter that grows, or that is not used', async () => {
      const anna = await createMember(store(), 'anna');
      await store().addPasskey(newPasskey(anna.id, { counter: 5 }), NOW);
      await store().addPasskey(newPasskey(anna.id), NOW + 1);
      const [counting, plain] = (await passkeysOf(anna.id)).map(({ id }) => id);
      const logIn = (passkeyId = '', counter = 0, challenge = spent()) =>
        store().logInByPasskey({ passkeyId, counter, spent: challenge }, browser(), NOW);
      expect(await logIn(counting, 5)).toBeNull();
      expect(await logIn(counting, 6)).toMatchObject({ memberId: anna.id, method: 'passkey' });
      expect(await logIn(counting, 6)).toBeNull();
      const once = spent();
      expect(await logIn(plain, 0, once)).not.toBeNull();
      expect(await logIn(plain, 0, once)).toBeNull();
      expect((await passkeysOf(anna.id)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([NOW, NOW]);
      await store().changeMember(anna.id, { disabled: true }, NOW);
      expect(await logIn(plain, 0)).toBeNull();
    });

    test('it is renamed and removed by its member alone, and the last way in stays', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      await store().addPasskey(newPasskey(anna.id), NOW);
      const id = (await passkeysOf(anna.id))[0]?.id ?? '';
      expect(await store().renamePasskey(ben.id, id, 'mine')).toBe(false);
      expect(await store().renamePasskey(anna.id, id, 'mine')).toBe(true);
      expect(await passkeysOf(anna.id)).toMatchObject([{ name: 'mine' }]);
      expect(await store().removePasskey(ben.id, id)).toBe('unknown');
      expect(await store().removePasskey(anna.id, id)).toBe('last');
      await store().changeMember(anna.id, { passwordHash: '$scrypt$x' }, NOW);
      expect(await store().removePasskey(anna.id, id)).toBe('removed');
      expect(await store().removePasskey(anna.id, id)).toBe('unknown');
    });
  });

  describe(`${adapter}: accounts of OpenID providers`, () => {
    test('a new one joins by its domain, but not as the first member or another one', async () => {
      expect(await arrive(arrival('una'))).toEqual(refused('unknown'));
      const una = await createMember(store(), 'una');
      const joined = await arrive(arrival('una'));
      expect(joined).toMatchObject({ kind: 'in', isNew: true });
      expect(joined).toMatchObject({ session: { memberName: 'una-2', method: 'oidc' } });
      expect(await arrive(arrival('una'))).toMatchObject({ kind: 'in', isNew: false });
      expect(await arrive(arrival('other', { email: una.email }))).toEqual(refused('taken'));
      expect(await arrive(arrival('ivo', { isOfDomain: false }))).toEqual(refused('unknown'));
      expect(await arrive(arrival('ivo', { email: null }))).toEqual(refused('unknown'));
      const twice = arrival('vera');
      await arrive(twice);
      expect(await arrive(twice)).toEqual(refused('spent'));
    });

    test('a new one joins with an invite, as its address, without a password', async () => {
      const hash = sha256(randomHex());
      const told = { email: 'ivo@example.org', role: 'admin', networkId: null } as const;
      created(await store().createInvite({ ...told, hash, expiresAt: LATER }, NOW));
      const invited = arrival('ivo', { inviteHash: hash, email: null, isOfDomain: false });
      expect(await arrive(invited)).toMatchObject({ kind: 'in', isNew: true });
      const ivo = { email: 'ivo@example.org', role: 'admin', hasPassword: false };
      expect(await store().findMember('ivo')).toMatchObject(ivo);
      const second = arrival('eve', { inviteHash: hash });
      expect(await arrive(second)).toEqual(refused('invite'));
    });

    test('it is connected to one member, who has one, and never without a way in', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const connect = (memberId: string, subject: string) =>
        store().connectOidc(
          { memberId, issuer: ISSUER, subject, email: null, spent: spent() },
          NOW,
        );
      expect(await connect(anna.id, 'a')).toBe('connected');
      expect(await connect(anna.id, 'a')).toBe('connected');
      expect(await connect(ben.id, 'a')).toBe('taken');
      expect(await connect(anna.id, 'b')).toBe('other');
      expect(await arrive(arrival('a'))).toMatchObject({ session: { memberId: anna.id } });
      expect(await store().logInMethods(anna.id)).toMatchObject({
        hasPassword: false,
        identities: [{ issuer: ISSUER, subject: 'a', email: 'a@home.example', lastUsedAt: NOW }],
      });
      expect(await store().disconnectOidc(anna.id, ISSUER)).toBe('last');
      await store().addPasskey(newPasskey(anna.id), NOW);
      expect(await store().disconnectOidc(ben.id, ISSUER)).toBe('unknown');
      expect(await store().disconnectOidc(anna.id, ISSUER)).toBe('removed');
      await store().changeMember(anna.id, { disabled: true }, NOW);
      await connect(ben.id, 'a');
      await store().changeMember(ben.id, { disabled: true }, NOW);
      expect(await arrive(arrival('a'))).toEqual(refused('disabled'));
    });

    test('the claim sets the role, and takes it from no last admin', async () => {
      await createMember(store(), 'anna');
      const roleAfter = async (role: 'admin' | 'member') => {
        await arrive(arrival('una', { role }));
        return (await store().findMember('una'))?.role;
      };
      expect(await roleAfter('admin')).toBe('admin');
      expect(await roleAfter('member')).toBe('admin');
      const ben = await createMember(store(), 'ben');
      await store().changeMember(ben.id, { role: 'admin' }, NOW);
      expect(await roleAfter('member')).toBe('member');
    });
  });

  describe(`${adapter}: links for a new password`, () => {
    test('one sets it once, before its end, and ends what there was', async () => {
      const anna = await createMember(store(), 'anna');
      const make = async (expiresAt = LATER): Promise<string> => {
        const hash = sha256(randomHex());
        const reset = { hash, memberId: anna.id, expiresAt };
        expect(await store().createPasswordReset(reset, NOW)).toBe(true);
        return hash;
      };
      const use = (hash: string, now = NOW) =>
        store().resetPassword({ hash, passwordHash: '$scrypt$new' }, now);
      const former = await make();
      const hash = await make();
      const old = browser();
      await store().createSession({ ...old, memberId: anna.id, passwordHash: null }, NOW);
      expect(await use(former)).toBeNull();
      expect(await use(hash, LATER)).toBeNull();
      expect(await use(hash)).toEqual({ memberId: anna.id });
      expect(await use(hash)).toBeNull();
      expect(await store().useSession(old.hash, '', NOW)).toBeNull();
      expect(await store().findPassword(anna.email)).toMatchObject({ passwordHash: '$scrypt$new' });
      expect(await store().lastPasswordReset(anna.id, NOW)).toBe(NOW);
      const open = await make();
      await store().changeMember(anna.id, { passwordHash: '$scrypt$own' }, NOW);
      expect(await use(open)).toBeNull();
      expect(await store().lastPasswordReset(anna.id, NOW)).toBeNull();
      const unused = await make();
      await store().changeMember(anna.id, { disabled: true }, NOW);
      expect(await use(unused)).toBeNull();
      const none = { hash: sha256(randomHex()), memberId: anna.id, expiresAt: LATER };
      expect(await store().createPasswordReset(none, NOW)).toBe(false);
    });
  });
}
