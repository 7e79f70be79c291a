import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW, created } from './store-rows.js';

const LATER = NOW + 1_000;
const CAPS = { slots: 1, hours: null, maxTokens: 9 };
/** Part of every hash that an operation receives. */
const MARK = 'dead0beef';

test('the database lets nobody change or take away an entry', async () => {
  const { database } = await used();
  const before = database.prepare('select * from audit_log').all();
  expect(before.length).toBeGreaterThan(20);
  for (const change of [
    "update audit_log set actor = 'nobody'",
    'update audit_log set at = at + 1 where rowid = 1',
    'delete from audit_log',
    'delete from audit_log where rowid = 1',
    "insert or replace into audit_log select * from audit_log where action = 'user.create'",
  ]) {
    expect(() => database.exec(change)).toThrow('append-only');
  }
  expect(database.prepare('select * from audit_log').all()).toEqual(before);
});

test('every operation that changes who may do what is written down, under its actor', async () => {
  const { database } = await used();
  const distinct = 'select distinct action from audit_log order by action';
  expect(database.prepare(distinct).pluck().all()).toEqual([
    'invite.accept',
    'invite.create',
    'invite.revoke',
    'key.create',
    'key.disable',
    'key.enable',
    'key.rename',
    'key.revoke',
    'key.rotate',
    'limit.set',
    'network.accept',
    'network.add',
    'network.create',
    'network.decline',
    'network.delete',
    'network.invite',
    'network.remove',
    'network.rename',
    'network.uninvite',
    'provider.approve',
    'provider.block',
    'provider.drain',
    'provider.enroll',
    'provider.remove',
    'provider.rename',
    'provider.resume',
    'provider.share',
    'provider.unblock',
    'provider.unshare',
    'queue.pause',
    'queue.resume',
    'session.end',
    'token.create',
    'token.revoke',
    'user.create',
    'user.disable',
    'user.enable',
    'user.password',
    'user.rename',
    'user.role',
  ]);
  const actors = database.prepare('select distinct actor from audit_log').pluck().all();
  expect(actors).toEqual(['cli:root']);
});

test('no entry holds a secret or its hash', async () => {
  const { database } = await used();
  const kept = (table: string, column: string): unknown =>
    database.prepare(`select ${column} from ${table} where ${column} like '%${MARK}%'`).get();
  // The mark is in the database, but not in the audit log.
  expect(kept('api_keys', 'hash')).toBeDefined();
  expect(kept('members', 'password_hash')).toBeDefined();
  const columns = database.pragma('table_info(audit_log)') as { name: string }[];
  for (const { name } of columns)
    expect([name, kept('audit_log', name)]).toEqual([name, undefined]);
});

/** The database of a store in which every audited kind of change was made. */
async function used() {
  const folder = await temporaryFolder();
  const opened = await openStore(folder);
  const store = opened.by('cli:root');
  const annaId = await changeMembers(store);
  await changeKeys(store, annaId);
  await changeSharing(store, annaId);
  await store.setQueuePaused(true);
  await store.setQueuePaused(false);
  await opened.close();
  const database = openDatabase(join(folder, 'gateway.db'));
  onTestFinished(() => void database.close());
  return { database };
}

let hashes = 0;
function hash(): string {
  return `${MARK}${++hashes}-`.padEnd(64, MARK);
}

async function changeMembers(store: Store): Promise<string> {
  const passwordHash = `$scrypt$${MARK}`;
  const [email, role] = ['anna@example.org', 'member'] as const;
  const anna = created(await store.createMember({ email, name: 'anna', role, passwordHash }, NOW));
  const browser = { address: '192.0.2.1', userAgent: 'Firefox', expiresAt: LATER };
  const row = { ...browser, memberId: anna.id, passwordHash };
  const logIn = () => store.createSession({ ...row, hash: hash() }, NOW);
  await store.endSessions({ id: (await logIn())?.id ?? '' }, NOW);
  await logIn();
  await store.endSessions({ memberId: anna.id }, NOW);
  const change = { name: 'ann', role: 'admin', disabled: true } as const;
  await store.changeMember(anna.id, { ...change, passwordHash: `${passwordHash}2` }, NOW);
  await store.changeMember(anna.id, { name: 'anna', disabled: false }, NOW);
  await store.setMemberLimits(anna.id, { requests: 5 });
  const told = { email: 'ben@example.org', role, networkId: null, expiresAt: LATER };
  const revoked = created(await store.createInvite({ ...told, hash: hash() }, NOW));
  await store.revokeInvite(revoked.id, NOW);
  const open = { ...told, hash: hash() };
  await store.createInvite(open, NOW);
  await store.acceptInvite({ hash: open.hash, name: 'ben', passwordHash }, NOW);
  return anna.id;
}

async function changeKeys(store: Store, memberId: string): Promise<void> {
  const row = { memberId, prefix: 'gwk_12345678', scope: 'any', expiresAt: LATER } as const;
  const { id } = created(await store.createKey({ ...row, name: 'one', hash: hash() }, NOW));
  await store.createKey({ ...row, name: 'two', hash: hash() }, NOW);
  await store.renameKey(id, 'laptop');
  await store.rotateKey(id, { prefix: 'gwk_9', hash: hash(), previousUntil: LATER }, NOW);
  for (const state of ['disabled', 'enabled', 'revoked'] as const) {
    await store.setKeyState(id, state, NOW);
  }
}

async function changeSharing(store: Store, ownerId: string): Promise<void> {
  const benId = (await store.findMember('ben'))?.id ?? '';
  const token = { ownerId, name: 'den-pc', replaces: null, expiresAt: LATER };
  const spent = created(await store.createJoinToken({ ...token, hash: hash() }, NOW));
  await store.revokeJoinToken(spent.id, NOW);
  const joinTokenHash = hash();
  await store.createJoinToken({ ...token, hash: joinTokenHash }, NOW);
  const enrolling = { joinTokenHash, tokenHash: hash(), name: null, approved: false };
  const { id: providerId } = created(await store.enroll(enrolling, NOW));
  await store.approveProvider(providerId, NOW);
  await store.renameProvider(providerId, 'attic');
  await store.setProviderDraining(providerId, true);
  await store.setProviderDraining(providerId, false);

  const { id: networkId } = created(await store.createNetwork({ name: 'home', ownerId }, NOW));
  await store.renameNetwork(networkId, 'house');
  await store.joinNetwork(networkId, benId, NOW);
  await store.leaveNetwork(networkId, benId);
  const pair = { networkId, memberId: benId };
  for (const accepted of [false, true]) {
    await store.inviteToNetwork({ ...pair, invitedBy: ownerId }, NOW);
    await store.answerNetworkInvitation({ ...pair, accepted }, NOW);
  }
  await store.leaveNetwork(networkId, benId);
  await store.inviteToNetwork({ ...pair, invitedBy: ownerId }, NOW);
  await store.withdrawNetworkInvitation(networkId, benId);
  const subject = { serviceId: null, model: null };
  const audience = { kind: 'network', id: networkId } as const;
  const row = { providerId, subject, audience, caps: CAPS };
  const share = created(await store.putShare(row, NOW));
  await store.deleteShare(share.id);
  await store.blockMember({ ownerId, memberId: benId }, NOW);
  await store.unblockMember(ownerId, benId);
  await store.deleteNetwork(networkId);
  await store.removeProvider(providerId, NOW);
}
