import { SYSTEM } from '@inference-gateway/coordinator/store/operations/audit/audit-trail';
import type {
  OperationArguments,
  OperationName,
} from '@inference-gateway/coordinator/store/operations/operations';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { groupCommit } from '@inference-gateway/coordinator/store/sqlite/group-commit';
import type { Call, CallOutcome, Group } from '@inference-gateway/coordinator/store/sqlite/group';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW, newKey, newMember } from './store-rows.js';

const HASH = '0'.repeat(64);

test('calls that arrive together share one commit', async () => {
  const together = await openCommit();
  const before = together.walBytes();
  together.commit(calls(0, 100));
  const oneCommit = together.walBytes() - before;

  const alone = await openCommit();
  const start = alone.walBytes();
  for (const one of calls(0, 100)) alone.commit([one]);
  // Each commit writes the pages that it changed, so a hundred commits write the same pages again.
  expect(oneCommit).toBeGreaterThan(0);
  expect(alone.walBytes() - start).toBeGreaterThan(10 * oneCommit);
});

test('a call that fails spoils no other, and its own writes are undone', async () => {
  const { commit, database } = await openCommit();
  const nobodysKey = call('createKey', newKey('0'.repeat(26)), NOW);
  const outcomes = commit([...calls(0, 2), nobodysKey, ...calls(2, 4)]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'failed', 'done', 'done']);
  expect(outcomes[2]).toMatchObject({ storage: false, message: expect.stringMatching(/FOREIGN/) });
  expect(count(database, 'members')).toBe(4);
  expect(count(database, 'api_keys')).toBe(0);
});

test('outcomes come in the order of the calls, reads among writes', async () => {
  const { commit } = await openCommit();
  const find = call('findMember', 'member-0');
  const outcomes = commit([find, ...calls(0, 1), find]);
  expect(outcomes.map(valueOf)).toMatchObject([
    null,
    { kind: 'created', value: { name: 'member-0' } },
    { name: 'member-0' },
  ]);
});

test("each call is written down as its own actor's, and one that fails not at all", async () => {
  const { commit, database } = await openCommit();
  const taken = { ...call('createMember', newMember('member-0'), NOW), actor: 'cli:late' };
  const nobodys = { ...call('createKey', newKey('0'.repeat(26)), NOW), actor: 'cli:mallory' };
  const pause = call('setQueuePaused', true);
  commit([...calls(0, 2), taken, nobodys, pause]);
  const entries = database.prepare('select actor, action from audit_log order by rowid').all();
  expect(entries).toEqual([
    { actor: 'cli:0', action: 'user.create' },
    { actor: 'cli:1', action: 'user.create' },
    { actor: SYSTEM, action: 'queue.pause' },
  ]);
});

test('what a call recorded before it failed is not written with the next', async () => {
  const { commit, database } = await openCommit();
  const invite = { hash: HASH, email: 'eve@example.org', role: 'member', networkId: null } as const;
  commit([call('createInvite', { ...invite, expiresAt: NOW + 9, actor: SYSTEM }, NOW)]);
  // The new member is recorded before the invite is marked as used.
  database.exec(
    "create trigger broken before update on invites begin select raise(abort, 'broken'); end",
  );
  const accepted = call(
    'acceptInvite',
    { hash: HASH, name: 'eve', passwordHash: '$scrypt$p' },
    NOW,
  );
  const outcomes = commit([accepted, call('setQueuePaused', true)]);
  expect(outcomes).toMatchObject([{ message: 'broken' }, { kind: 'done' }]);
  const actions = database.prepare('select action from audit_log order by rowid').pluck().all();
  expect(actions).toEqual(['invite.create', 'queue.pause']);
});

test('where the commit fails, nothing is written down and nobody is told of sharing', async () => {
  const { commit, commitGroup, database } = await openCommit();
  const [outcome] = commit(calls(0, 1));
  const { id } = (valueOf(outcome) as { value: { id: string } }).value;
  const group: Group = {
    calls: [call('changeMember', id, { disabled: true }, NOW)],
    watchesSharing: true,
  };
  // The deferred foreign key fails only at the commit.
  database.exec(
    `create table children (id text references members (id) deferrable initially deferred);
     create trigger orphan after insert on audit_log begin
       insert into children values ('nobody');
     end`,
  );
  const failed = commitGroup(group);
  expect(failed).toMatchObject({ outcomes: [{ kind: 'failed' }], sharing: null });
  expect(count(database, 'audit_log')).toBe(1);
  database.exec('drop trigger orphan');
  expect(commitGroup(group).sharing?.disabledMembers).toEqual([id]);
  expect(count(database, 'audit_log')).toBe(2);
});

test('the facts of sharing are read where somebody watches and a call changed them', async () => {
  const { commitGroup, commit } = await openCommit();
  commit(calls(0, 1));
  const network = (name: string, ownerId: string) => call('createNetwork', { name, ownerId }, NOW);
  const member = valueOf(commit([call('findMember', 'member-0')])[0]) as { id: string };
  const facts = (watchesSharing: boolean, ...asked: Call[]) =>
    commitGroup({ calls: asked, watchesSharing }).sharing;
  expect(facts(true, call('listMembers'))).toBeNull();
  expect(facts(false, network('unwatched', member.id))).toBeNull();
  expect(facts(true, network('nobodys', '0'.repeat(26)))).toBeNull();
  const both = facts(
    true,
    network('home', member.id),
    call('listMembers'),
    network('den', member.id),
  );
  expect(both?.memberships).toHaveLength(3);
});

test('when the disk is full, exactly what was answered as done is there', async () => {
  const { commit, database } = await openCommit();
  database.pragma(
    `max_page_count = ${Number(database.pragma('page_count', { simple: true })) + 4}`,
  );
  const outcomes = Array.from({ length: 10 }, (_, group) =>
    commit(calls(group * 50, (group + 1) * 50)),
  ).flat();
  const failed = outcomes.filter(({ kind }) => kind === 'failed');
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.every((outcome) => outcome.kind === 'failed' && outcome.storage)).toBe(true);
  expect(count(database, 'members')).toBe(outcomes.length - failed.length);
  expect(database.inTransaction).toBe(false);
  database.pragma('max_page_count = 1000000');
  expect(commit(calls(900, 901))).toMatchObject([{ kind: 'done' }]);
});

async function openCommit() {
  const file = join(await temporaryFolder(), 'test.db');
  const database = openDatabase(file);
  onTestFinished(() => void database.close());
  migrate(database);
  const commitGroup = groupCommit(database, 'node');
  const commit = (calls: Call[]) => commitGroup({ calls, watchesSharing: false }).outcomes;
  return {
    database,
    commit,
    commitGroup,
    walBytes: () => statSync(`${file}-wal`).size,
  };
}

function calls(from: number, to: number): Call[] {
  return Array.from({ length: to - from }, (_, index) => ({
    ...call('createMember', newMember(`member-${from + index}`), NOW),
    actor: `cli:${from + index}`,
  }));
}

function call<Name extends OperationName>(name: Name, ...args: OperationArguments<Name>): Call {
  return { actor: SYSTEM, at: NOW, name, args };
}

function valueOf(outcome: CallOutcome | undefined): unknown {
  return outcome?.kind === 'done' ? outcome.value : outcome?.message;
}

function count(database: ReturnType<typeof openDatabase>, table: string): number {
  return Number(database.prepare(`select count(*) from ${table}`).pluck().get());
}
