import { createOperations } from '@inference-gateway/coordinator/store/sqlite/create-operations';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { groupCommit } from '@inference-gateway/coordinator/store/sqlite/group-commit';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import type { Call, CallOutcome } from '@inference-gateway/coordinator/store/sqlite/operations';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW, newKey, newMember } from './store-rows.js';

test('calls that arrive together share one commit', async () => {
  const together = await openCommit();
  const before = together.walBytes();
  together.commit(calls(0, 100));
  const oneCommit = together.walBytes() - before;

  const alone = await openCommit();
  const start = alone.walBytes();
  for (const call of calls(0, 100)) alone.commit([call]);
  // Each commit writes the pages that it changed: a hundred write the same ones over again.
  expect(oneCommit).toBeGreaterThan(0);
  expect(alone.walBytes() - start).toBeGreaterThan(10 * oneCommit);
});

test('a call that fails spoils no other, and its own writes are undone', async () => {
  const { commit, database } = await openCommit();
  const nobodysKey: Call = { name: 'createKey', args: [newKey('0'.repeat(26)), NOW] };
  const outcomes = commit([...calls(0, 2), nobodysKey, ...calls(2, 4)]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'failed', 'done', 'done']);
  expect(outcomes[2]).toMatchObject({ storage: false, message: expect.stringMatching(/FOREIGN/) });
  expect(count(database, 'members')).toBe(4);
  expect(count(database, 'api_keys')).toBe(0);
});

test('outcomes come in the order of the calls, reads among writes', async () => {
  const { commit } = await openCommit();
  const find: Call = { name: 'findMember', args: ['member-0'] };
  const outcomes = commit([find, ...calls(0, 1), find]);
  expect(outcomes.map(valueOf)).toMatchObject([
    null,
    { kind: 'created', value: { name: 'member-0' } },
    { name: 'member-0' },
  ]);
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
  return {
    database,
    commit: groupCommit(database, createOperations(database)),
    walBytes: () => statSync(`${file}-wal`).size,
  };
}

function calls(from: number, to: number): Call[] {
  return Array.from({ length: to - from }, (_, index) => ({
    name: 'createMember',
    args: [newMember(`member-${from + index}`), NOW],
  }));
}

function valueOf(outcome: CallOutcome): unknown {
  return outcome.kind === 'done' ? outcome.value : outcome.message;
}

function count(database: ReturnType<typeof openDatabase>, table: string): number {
  return Number(database.prepare(`select count(*) from ${table}`).pluck().get());
}
