import { MemberReads } from '@inference-gateway/coordinator/http/edge/member-reads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RawCaller } from '../../../api/raw-caller.js';
import { visitAgain } from '../../../api/visitor.js';
import { openGateway } from '../../../support/gateway.js';
import type { TestGateway } from '../../../support/gateway.js';
import { until } from '../../../support/until.js';

/** Reads that end when the test says so. */
function slowReads(reads: MemberReads) {
  const ends: (() => void)[] = [];
  const take = (memberId: string): Promise<void> =>
    reads.take(memberId, () => new Promise((done) => ends.push(done)));
  return { ends, take };
}

test('a member has four reads under way, the others wait in their order, and end', async () => {
  const reads = new MemberReads();
  const { ends, take } = slowReads(reads);
  const asked = Array.from({ length: 6 }, () => take('anna'));
  const other = take('ben');
  await Promise.resolve();
  expect(ends).toHaveLength(5);
  ends[4]?.();
  await other;
  ends[0]?.();
  await asked[0];
  expect(ends).toHaveLength(6);
  for (const end of ends) end();
  await asked[4];
  ends.at(-1)?.();
  await Promise.all(asked);
});

const fail = () => Promise.reject(new Error('the disk'));

test('a read that fails gives its place to the next one', async () => {
  const reads = new MemberReads();
  const failures = Array.from({ length: 9 }, () => reads.take('anna', fail).catch(() => 'failed'));
  expect(new Set(await Promise.all(failures))).toEqual(new Set(['failed']));
  expect(await reads.take('anna', () => Promise.resolve('read'))).toBe('read');
});

test('a line of 500 is served whole, and one more is told to send fewer at once', async () => {
  const reads = new MemberReads();
  const { ends, take } = slowReads(reads);
  const asked = Array.from({ length: 504 }, () => take('anna'));
  await expect(take('anna')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  let ended = 0;
  for (const one of asked) void one.then(() => (ended += 1));
  while (ended < asked.length) {
    for (const end of ends.splice(0)) end();
    await new Promise((done) => setImmediate(done));
  }
});

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openGateway();
});

afterAll(() => gateway.stop());

test.each<[string, (gateway: TestGateway) => Promise<Readonly<Record<string, string>>>]>([
  ['/v1/jobs', withKey],
  ['/v1/batches', withKey],
  ['/v1/batches/x', withKey],
  ['/api/inference/assets', withKey],
  ['/api/inference/queue/summary', withKey],
  ['/api/console/v1/jobs', withSession],
  ['/api/console/v1/my/home.show', withSession],
])('600 requests at once for %s are such reads', async (path, asWhom) => {
  const headers = await asWhom(gateway);
  // Now the key or the session is cached, so requests that arrive in one piece start in one turn.
  expect((await fetch(`${gateway.address}${path}`, { headers })).status).toBeLessThan(405);
  const caller = new RawCaller(gateway);
  for (let i = 0; i < 600; i++) caller.head(`GET ${path}`, headers);
  const statuses = () =>
    [...caller.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, one]) => one);
  await until(() => statuses().length === 600, { what: 'all answers' });
  expect(statuses().filter((one) => one === '429').length).toBeGreaterThan(0);
  const other = { authorization: `Bearer ${gateway.ben.key}` };
  expect((await gateway.fetch('/v1/jobs', { headers: other })).status).toBe(200);
});

async function withKey({ anna }: TestGateway) {
  return { authorization: `Bearer ${anna.key}` };
}

async function withSession(gateway: TestGateway) {
  return { cookie: (await visitAgain(gateway, 'anna@example.org')).cookie };
}
