import { openStore } from '@inference-gateway/coordinator/store/open';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { redisDurability } from '../../bench/jobs/queues/bullmq-queue.js';
import { openGatewayQueue } from '../../bench/jobs/queues/gateway-queue.js';
import { installed } from '../../bench/jobs/queues/installed.js';
import { MEMBERS, seed } from '../../bench/jobs/tables/seed.js';
import { measureStores } from '../../bench/jobs/tables/store-calls.js';
import { idAt } from '../../bench/jobs/tables/table-round.js';
import { Samples } from '../../bench/samples.js';
import { NEWEST_JOBS } from '../store/job-rows.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ROWS = 1_000;

test('the seeded table is one that the store itself could have left', async () => {
  const folder = await temporaryFolder();
  const { memberId, ids } = await seed(folder, ROWS);
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const [queue] = await store.modelQueues(null);
  expect(queue).toMatchObject({ queued: ROWS / 10, processing: 0 });
  const page = { ...NEWEST_JOBS, memberId, limit: ROWS };
  const jobs = await store.listJobs(page);
  expect(jobs).toHaveLength(ROWS / MEMBERS);
  const statuses = jobs.slice(0, 10).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(
    ['CANCELED', 'FAILED', ...Array<string>(7).fill('PROCESSED'), 'QUEUED'].toSorted(),
  );
  expect(ids).toHaveLength((ROWS / MEMBERS) * 0.7);
  const found = await store.findJob(idAt({ folder, memberId, ids, key: '' }, 7), memberId);
  expect(JSON.parse(found?.result ?? '')).toMatchObject({ object: 'chat.completion' });
});

test('in its queue callers take turns, and the triggers have counted every row', async () => {
  const folder = await temporaryFolder();
  await seed(folder, ROWS);
  const database = openDatabase(join(folder, DATABASE_FILE));
  onTestFinished(() => void database.close());
  const counted = database.prepare(
    'select sum(queued) as queued, sum(bytes) as bytes from queue_counts',
  );
  const really = database.prepare(
    `select count(*) as queued, sum(body_bytes) as bytes from jobs where status = 'QUEUED'`,
  );
  expect(counted.get()).toEqual(really.get());
  const keys = database
    .prepare(`select distinct fair_key from jobs where status = 'QUEUED' order by 1`)
    .pluck();
  expect(keys.all()).toEqual(Array.from({ length: ROWS / MEMBERS / 10 }, (_, i) => i + 1));
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('every operation on a table is measured, and leaves its queue as it was', async () => {
  const folder = await temporaryFolder();
  const table = await seed(folder, ROWS);
  const samples = new Samples([]);
  const round = { samples, rounds: 1, reads: 2, claims: 3, say: () => {}, cpuProf: null };
  await measureStores(new Map([['few', table]]), round);
  for (const metric of ['list', 'listDeep', 'listStatus', 'get', 'claim']) {
    expect(samples.median('few', `store.${metric}`)).toBeGreaterThan(0);
  }
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  expect(await store.modelQueues(null)).toMatchObject([{ queued: ROWS / 10, processing: 0 }]);
});

test("the gateway's queue adds, claims and finishes every job", async () => {
  const folder = await temporaryFolder();
  const queue = await openGatewayQueue(folder);
  await queue.add(300);
  await queue.run(300);
  await queue.close();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const page = { ...NEWEST_JOBS, limit: 500 };
  expect(await store.listJobs({ ...page, statuses: ['PROCESSED'] })).toHaveLength(300);
  expect(await store.listJobs(page)).toHaveLength(300);
});

test('a queue that has fewer jobs than are to be run says so, and does not wait', async () => {
  const queue = await openGatewayQueue(await temporaryFolder());
  onTestFinished(() => queue.close());
  await queue.add(3);
  await expect(queue.run(4)).rejects.toThrow('3 of 4 jobs ran');
});

test("a peer is taken from the user's folder; where it is missing, that is told", async () => {
  const folder = await temporaryFolder();
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  expect(await installed('someones-queue', folder, say)).toBeNull();
  expect(lines).toEqual([
    expect.stringMatching(/someones-queue cannot be loaded from .*NOT_FOUND/),
  ]);
  const home = join(folder, 'node_modules', 'someones-queue');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"type":"module","main":"queue.js"}');
  writeFileSync(join(home, 'queue.js'), 'export const answer = 42;');
  expect(await installed('someones-queue', folder, say)).toMatchObject({ answer: 42 });
});

test('only what answers as Redis does is taken for it, and tells how durable it is', async () => {
  const redis = await answering({
    'PING\r\n': '+PONG\r\n',
    'CONFIG GET append*\r\n':
      '*4\r\n$10\r\nappendonly\r\n$2\r\nno\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n',
  });
  expect(await redisDurability(redis)).toBe('appendonly no, appendfsync everysec');
  const closed = await answering({ 'PING\r\n': '+PONG\r\n' });
  expect(await redisDurability(closed)).toBe('appendonly unknown, appendfsync unknown');
  expect(await redisDurability(await answering({}))).toBeNull();
  expect(await redisDurability('redis://127.0.0.1:1')).toBeNull();
});

/** Any other command gets an answer that is not Redis protocol. */
async function answering(answers: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((socket) =>
    socket.on('data', (asked) => socket.write(answers[asked.toString()] ?? 'HTTP/1.1 400\r\n')),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
