/** The part of the contract that is about machines that log in with a code. */
import type {
  CollectedDevice,
  DeviceLogin,
  NewDeviceLogin,
  NewDeviceProvider,
  Store,
  TypedCode,
} from '@inference-gateway/coordinator/store/port';
import {
  CODE_LOCK_OUT_MS,
  MAX_PENDING_DEVICES,
} from '@inference-gateway/coordinator/core/access/log-in-throttle';
import { newUserCode } from '@inference-gateway/shared/ids';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createMember, inCrowds, randomHex, sha256 } from './store-rows.js';

const LIFETIME_MS = 600_000;
const HOUR_MS = 3_600_000;
const END = NOW + LIFETIME_MS;
const WRONG = { kind: 'wrong' };
const WAITING: CollectedDevice = { kind: 'waiting' };

/** An address in one of many networks. */
function addressOf(n: number): string {
  return `198.18.${n >> 8}.${n & 255}`;
}

/** A random code is this one once in 26 thousand million draws. */
const NOBODYS = 'ZZZZ-ZZZZ';

interface Asked {
  readonly login: DeviceLogin;
  readonly code: string;
  readonly deviceHash: string;
}

export function describeDevices(adapter: string, store: () => Store): void {
  const tryAsk = (fields: Partial<NewDeviceLogin> = {}, now = NOW): Promise<DeviceLogin | null> => {
    const told = { userCode: newUserCode(), name: 'den-pc', host: 'tower', address: '192.0.2.1' };
    const deviceHash = sha256(randomHex());
    const login = { deviceHash, ...told, expiresAt: now + LIFETIME_MS, ...fields };
    return store().createDevice(login, now);
  };
  const ask = async (fields: Partial<NewDeviceLogin> = {}, now = NOW): Promise<Asked> => {
    const deviceHash = sha256(randomHex());
    const login = await tryAsk({ deviceHash, ...fields }, now);
    if (login === null) throw new Error('not taken');
    return { login, code: login.userCode, deviceHash };
  };
  const approve = (userCode: string, ownerId: string, { vouches = false, now = NOW + 1 } = {}) =>
    store().approveDevice({ ...typed(userCode), ownerId, approvesProvider: vouches }, now);
  const collect = (
    { deviceHash }: Asked,
    fields: Partial<NewDeviceProvider> = {},
    now = NOW + 2,
  ): Promise<CollectedDevice> => {
    const provider = { deviceHash, tokenHash: sha256(randomHex()), approved: true, ...fields };
    return store().collectDevice(provider, now);
  };
  const guess = (member: number, address: string) =>
    store()
      .by(`member:${member}`)
      .findDevice(typed(NOBODYS, address), NOW + 1);
  const anna = async (): Promise<string> => (await createMember(store(), 'anna')).id;

  describe(`${adapter}: machines that log in`, () => {
    test('one that asks waits, and is listed until its time is over', async () => {
      const asked = await ask();
      expect(asked.login).toMatchObject({
        userCode: asked.code,
        name: 'den-pc',
        host: 'tower',
        address: '192.0.2.1',
        state: 'pending',
        wrongTries: 0,
        createdAt: NOW,
        expiresAt: END,
        ownerId: null,
        providerId: null,
      });
      const later = await ask({ name: null, host: null }, NOW + 1);
      expect(await store().listDevices(NOW + 2)).toEqual([asked.login, later.login]);
      expect(await collect(asked)).toEqual(WAITING);
      expect(await store().listDevices(END)).toEqual([later.login]);
      expect(await collect(asked, {}, END)).toEqual(refused('expired'));
    });

    test('once approved it becomes a provider of the owner, with its token, once', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      const approved = await approve(asked.code, ownerId);
      expect(approved).toMatchObject({ kind: 'changed', value: { state: 'approved', ownerId } });
      expect(await store().listDevices(NOW + 1)).toEqual([]);
      const tokenHash = sha256('agent');
      const first = await collect(asked, { tokenHash });
      const value = { ownerId, ownerName: 'anna', name: 'den-pc', createdAt: NOW + 2 };
      expect(first).toMatchObject({ kind: 'created', value });
      const found = await store().findProviderByToken(tokenHash);
      expect({ kind: 'created', value: found }).toEqual(first);
      expect(await collect(asked)).toEqual(refused('used'));
      expect(await store().listProviders()).toHaveLength(1);
      const gone = await store().findDevice(typed(asked.code), NOW + 3);
      expect(gone).toMatchObject({ kind: 'over', value: { state: 'done', providerId: found?.id } });
    });

    test('of polls at the same time, one gets the token', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      await approve(asked.code, ownerId);
      const polls = [collect(asked), collect(asked), collect(asked)];
      const kinds = (await Promise.all(polls)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'refused', 'refused']);
      expect(await store().listProviders()).toHaveLength(1);
    });

    test('of approvals at the same time, for two owners, one counts', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      const ben = await createMember(store(), 'ben');
      const owners = [ownerId, ben.id];
      const outcomes = await Promise.all(owners.map((owner) => approve(asked.code, owner)));
      const kinds = outcomes.map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['changed', 'over']);
      const first = owners[kinds.indexOf('changed')];
      expect(await collect(asked)).toMatchObject({ value: { ownerId: first } });
    });

    test('denied, it is refused, and cannot be approved any more', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      const denied = await store().denyDevice(typed(asked.code), NOW + 1);
      expect(denied).toMatchObject({ kind: 'changed', value: { state: 'denied' } });
      expect(await approve(asked.code, ownerId)).toMatchObject({ kind: 'over' });
      expect(await collect(asked)).toEqual(refused('denied'));
    });

    test('approved, it cannot be denied; and an approval lapses with its time', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      await approve(asked.code, ownerId);
      expect(await store().denyDevice(typed(asked.code), NOW + 1)).toMatchObject({ kind: 'over' });
      expect(await collect(asked, {}, END)).toEqual(refused('expired'));
      expect(await store().listProviders()).toEqual([]);
    });

    test('nobody can approve it when its time is over', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      expect(await approve(asked.code, ownerId, { now: END })).toMatchObject({ kind: 'over' });
      expect(await approve(asked.code, ownerId, { now: END - 1 })).toMatchObject({
        kind: 'changed',
      });
    });

    test('an unknown device code is refused', async () => {
      const unknown = { ...(await ask()), deviceHash: sha256('another') };
      expect(await collect(unknown)).toEqual(refused('unknown'));
    });

    test('the owner was disabled meanwhile: no provider until they are enabled', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      await approve(asked.code, ownerId);
      await store().changeMember(ownerId, { disabled: true }, NOW);
      expect(await collect(asked)).toEqual(refused('of a disabled member'));
      await store().changeMember(ownerId, { disabled: false }, NOW);
      expect(await collect(asked)).toMatchObject({ kind: 'created' });
    });

    test('a name that the owner has given is refused at the approval, and at the end', async () => {
      const [ownerId, first, second] = [await anna(), await ask(), await ask({ name: 'DEN-PC' })];
      await approve(first.code, ownerId);
      await approve(second.code, ownerId);
      expect(await collect(first)).toMatchObject({ kind: 'created' });
      expect(await collect(second)).toEqual({ kind: 'taken', field: 'name' });
      const third = await ask();
      expect(await approve(third.code, ownerId)).toEqual({ kind: 'taken', field: 'name' });
      expect(await collect(third)).toEqual(WAITING);
      const nameless = await ask({ name: null });
      await approve(nameless.code, ownerId);
      expect(await collect(nameless)).toMatchObject({ value: { name: 'anna-pc' } });
    });

    test('its provider waits for approval by policy, unless the log-in was one', async () => {
      const ownerId = await anna();
      const provider = async (name: string, byPolicy: boolean, byApproval: boolean) => {
        const asked = await ask({ name });
        await approve(asked.code, ownerId, { vouches: byApproval });
        const made = await collect(asked, { approved: byPolicy });
        return made.kind === 'created' ? made.value.approvedAt : made;
      };
      expect(await provider('a', false, false)).toBeNull();
      expect(await provider('b', false, true)).toBe(NOW + 2);
      expect(await provider('c', true, false)).toBe(NOW + 2);
    });
  });

  describe(`${adapter}: what keeps log-ins from being guessed`, () => {
    test('the fifth wrong code locks out who types them, and the machine waits on', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      const [guesser, other] = [store().by('member:guesser'), store().by('cli:root')];
      const guess = { ...typed(NOBODYS), ownerId, approvesProvider: true };
      const tries = [
        await guesser.findDevice(typed(NOBODYS), NOW + 1),
        await guesser.approveDevice(guess, NOW + 1),
        await guesser.denyDevice(typed(NOBODYS), NOW + 1),
        await guesser.approveDevice(guess, NOW + 1),
        await guesser.findDevice(typed(NOBODYS), NOW + 1),
      ];
      expect(tries).toEqual([4, 3, 2, 1, 0].map(wrongOfOne));
      const locked = { kind: 'locked', retryAfterMs: CODE_LOCK_OUT_MS - 1 };
      // Correct codes are refused too; otherwise guessing could go on.
      expect(await guesser.findDevice(typed(asked.code), NOW + 2)).toEqual(locked);
      expect(await guesser.denyDevice(typed(asked.code), NOW + 2)).toEqual(locked);
      expect(await guesser.approveDevice({ ...guess, ...typed(asked.code) }, NOW + 2)).toEqual(
        locked,
      );
      expect(await collect(asked)).toEqual(WAITING);
      const right = { ...typed(asked.code), ownerId, approvesProvider: true };
      expect(await other.approveDevice(right, NOW + 2)).toMatchObject({ kind: 'changed' });
      expect(await collect(asked)).toMatchObject({ kind: 'created' });
    });

    test('however many are locked out, nobody else is, and the machine is not', async () => {
      const [ownerId, asked] = [await anna(), await ask()];
      for (let member = 0; member < 20; member++) {
        const guesser = store().by(`member:${member}`);
        const from = typed(NOBODYS, `198.51.100.${member}`);
        for (let i = 0; i < 6; i++) await guesser.findDevice(from, NOW + 1);
      }
      expect(await store().listDevices(NOW + 1)).toMatchObject([{ wrongTries: 100 }]);
      expect(await approve(asked.code, ownerId)).toMatchObject({ kind: 'changed' });
    });

    test('a lock-out ends, and what was wrong is forgotten with it', async () => {
      const asked = await ask({ expiresAt: NOW + 3 * CODE_LOCK_OUT_MS });
      for (let i = 0; i < 5; i++) await store().findDevice(typed(NOBODYS), NOW + i);
      const last = NOW + 4;
      const at = (now: number) => store().findDevice(typed(asked.code), now);
      expect(await at(last + CODE_LOCK_OUT_MS - 1)).toEqual({ kind: 'locked', retryAfterMs: 1 });
      expect(await at(last + CODE_LOCK_OUT_MS)).toMatchObject({ kind: 'pending' });
      const again = await store().findDevice(typed(NOBODYS), last + CODE_LOCK_OUT_MS);
      expect(again).toEqual(wrongOfOne(4));
      // If the clock is set back, the lock-out does not last longer.
      expect(await at(NOW - 1)).toMatchObject({ kind: 'pending' });
    });

    test('many accounts at one address are locked out together, behind a proxy not', async () => {
      const asked = await ask();
      for (const [member, address] of [
        [1, '2001:db8::1'],
        [2, '2001:db8::2'],
        [3, '2001:db8::3:1'],
        [4, '2001:db8::4'],
      ] as const) {
        for (let i = 0; i < 5; i++) expect(await guess(member, address)).toMatchObject(WRONG);
      }
      expect(await guess(5, '2001:db8::5')).toMatchObject({ kind: 'locked' });
      expect(await guess(5, '2001:db8:0:1::5')).toMatchObject(WRONG);
      for (let i = 0; i < 30; i++) {
        expect(await guess(100 + i, i % 2 === 0 ? '::1' : '::ffff:127.0.0.1')).toMatchObject(WRONG);
      }
      expect(await collect(asked)).toEqual(WAITING);
    });

    test('a code that was good an hour ago is no guess', async () => {
      const [past, waits] = [await ask(), await ask({ name: 'b' }, END)];
      expect(await store().findDevice(typed(past.code), END)).toMatchObject({ kind: 'over' });
      expect(await collect(waits, {}, END)).toEqual(WAITING);
      expect(await store().listDevices(END)).toMatchObject([{ wrongTries: 0 }]);
    });

    test('the past is forgotten an hour after it', async () => {
      const past = await ask();
      await ask({}, END + HOUR_MS - 1);
      expect(await collect(past, {}, END + HOUR_MS)).toEqual(refused('expired'));
      await ask({}, END + HOUR_MS);
      expect(await collect(past, {}, END + HOUR_MS)).toEqual(refused('unknown'));
    });

    test('as many wait as may, and one more when one has ended; each code is of one', async () => {
      const first = await ask();
      expect(await tryAsk({ userCode: first.code })).toBeNull();
      const rest = await inCrowds(MAX_PENDING_DEVICES - 1, (n) =>
        tryAsk({ address: addressOf(n) }),
      );
      expect(rest.filter((one) => one === null)).toEqual([]);
      const more = { address: addressOf(MAX_PENDING_DEVICES) };
      expect(await tryAsk(more)).toBeNull();
      await store().denyDevice(typed(first.code), NOW + 1);
      expect(await tryAsk({ userCode: first.code })).not.toBeNull();
      expect(await tryAsk(more)).toBeNull();
      expect(await tryAsk({}, END)).not.toBeNull();
    });

    test('a hundred addresses do not keep out a caller from another', async () => {
      const crowd = await inCrowds(20 * 100, (n) => tryAsk({ address: addressOf(n % 100) }));
      const taken = crowd.filter((one) => one !== null);
      expect(taken.length).toBeLessThan(MAX_PENDING_DEVICES);
      expect(await tryAsk({ address: '192.0.2.200' })).not.toBeNull();
    });

    test('one IPv6 network counts as one address, and ten machines of it wait', async () => {
      const asked = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          tryAsk({ address: `2001:db8:1:${n.toString(16)}::1` }),
        ),
      );
      const taken = asked.filter((one) => one !== null).length;
      expect(taken).toBeGreaterThanOrEqual(10);
      expect(taken).toBeLessThanOrEqual(100);
    });

    test('who decided what is in the audit log, and no code that opens anything is', async () => {
      const [ownerId, asked, denied] = [await anna(), await ask(), await ask({ name: null })];
      const admin = store().by('cli:root');
      const approval = { ...typed(asked.code), ownerId, approvesProvider: true };
      await admin.approveDevice(approval, NOW + 1);
      await admin.denyDevice(typed(denied.code), NOW + 1);
      const made = await collect(asked, { approved: false });
      const subject = { kind: 'device', id: asked.login.id, name: 'den-pc' };
      const who = { host: 'tower', address: '192.0.2.1' };
      const [by, action] = [{ actor: 'cli:root' }, 'device.approve'];
      const entries = await audited(store(), 'device');
      expect(entries).toHaveLength(2);
      expect(entries).toContainEqual({
        ...by,
        action,
        subject,
        before: null,
        after: { ...who, owner: 'anna' },
      });
      expect(entries).toContainEqual({
        ...by,
        action: 'device.deny',
        subject: { kind: 'device', id: denied.login.id, name: 'tower' },
        before: who,
        after: null,
      });
      const after = { name: 'den-pc', approved: true, replaced: false };
      expect(await audited(store(), 'provider.enroll')).toMatchObject([{ before: null, after }]);
      expect(made.kind).toBe('created');
      expect(JSON.stringify(entries)).not.toContain(asked.deviceHash);
    });

    test('a lock-out is written down, of the member and of the address', async () => {
      const { id } = await createMember(store(), 'anna');
      for (const actor of [`member:${id}`, 'cli:root', 'member:x', 'member:y']) {
        const guesser = store().by(actor);
        for (let i = 0; i < 6; i++) await guesser.findDevice(typed(NOBODYS, '192.0.2.9'), NOW + 1);
      }
      const entries = await audited(store(), 'device.lockout');
      const after = { wrongCodes: 5, lockedOutS: CODE_LOCK_OUT_MS / 1_000 };
      const subject = { kind: 'user', id, name: 'anna' };
      expect(entries).toContainEqual({
        action: 'device.lockout',
        actor: `member:${id}`,
        subject,
        before: null,
        after,
      });
      expect(entries).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({ subject: { kind: 'actor', id: 'cli:root', name: 'cli:root' } }),
          expect.objectContaining({
            subject: { kind: 'address', id: '192.0.2.9', name: '192.0.2.9' },
            after: { ...after, wrongCodes: 20 },
          }),
        ]),
      );
      expect(entries).toHaveLength(5);
    });
  });
}

function refused(reason: string): object {
  return { kind: 'refused', reason };
}

function wrongOfOne(triesLeft: number): object {
  return { kind: 'wrong', waiting: 1, triesLeft };
}

function typed(userCode: string, address: string | null = null): TypedCode {
  return { userCode, address };
}
