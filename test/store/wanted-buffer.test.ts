import {
  MAX_BUFFERED_ASKS,
  WantedBuffer,
} from '@inference-gateway/coordinator/store/client/wanted-buffer';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { MAX_WANTED_ROWS } from '@inference-gateway/coordinator/store/port';
import type { AskedOn } from '@inference-gateway/coordinator/store/port';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { ApiError } from '@inference-gateway/shared/errors';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createMember } from './store-rows.js';

const DAY_MS = 86_400_000;

function recorder() {
  const told: AskedOn[][] = [];
  let isBroken = false;
  let now = 20_000 * DAY_MS + 5;
  const buffer = new WantedBuffer({
    now: () => now,
    write: async (asked) => {
      if (isBroken) throw new ApiError('storage_unavailable', 'The disk is full.');
      told.push([...asked]);
    },
  });
  const fail = (is: boolean): boolean => (isBroken = is);
  const sleepTo = (day: number): number => (now = day * DAY_MS);
  return { buffer, told, fail, sleepTo };
}

test('a member who asks for 100,000 names has 20 rows, and as many the next day', async () => {
  const { buffer, told, sleepTo } = recorder();
  const ask = (): void => {
    for (let n = 0; n < 100_000; n++) buffer.add({ memberId: 'eve', model: `model-${n}` });
  };
  ask();
  await buffer.flush();
  ask();
  await buffer.flush();
  expect(told.flat()).toHaveLength(20);
  sleepTo(20_001);
  ask();
  await buffer.close();
  expect(told.flat()).toHaveLength(40);
  expect(told.at(-1)?.[0]).toEqual({ memberId: 'eve', model: 'model-0', day: 20_001 * DAY_MS });
});

test('while the database is away a limited number waits, and is written later', async () => {
  const { buffer, told, fail } = recorder();
  fail(true);
  for (let n = 0; n < MAX_BUFFERED_ASKS + 100; n++) {
    buffer.add({ memberId: `m${n}`, model: 'qwen3:8b' });
    if (n === 7) await buffer.flush();
  }
  expect(told).toEqual([]);
  fail(false);
  await buffer.close();
  expect(told.flat()).toHaveLength(MAX_BUFFERED_ASKS);
  expect(told[0]?.[0]?.memberId).toBe('m0');
});

test('the table takes no more rows than its limit', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  const anna = await createMember(store, 'anna');
  const database = openDatabase(join(folder, 'gateway.db'));
  const rows = `with recursive n (i) as (select 1 union all select i + 1 from n where i < @rows)
    insert into wanted_models select @id, 'model-' || i, 0 from n`;
  database.prepare(rows).run({ id: anna.id, rows: MAX_WANTED_ROWS - 2 });
  for (const model of ['one', 'two', 'three']) store.noteWanted({ memberId: anna.id, model });
  await store.close();
  const count = database.prepare('select count(*) from wanted_models').pluck();
  expect(count.get()).toBe(MAX_WANTED_ROWS);
  database.close();
});
