/** The Atom feed of a member: what it tells, to whom, and what it never tells. */
import { writeFeed } from '@inference-gateway/coordinator/http/dashboard/feed';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { my, readMy, refusal } from './console-calls.js';
import { chatItem, submitBatch, submitted } from './job-calls.js';
import { failureOf } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

const SECRET = 'the plan for the surprise party';

let gateway: TestGateway;
let fake: FakeModelServer;
let anna: Visitor;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }], name: 'den-pc' });
  anna = await visit(gateway, 'anna@example.org');
});

afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

/** As the feed's owner was told it, on the address that the test listens on. */
async function newFeed(): Promise<string> {
  const { url } = await my(anna, 'feed.create', {});
  return gateway.address + new URL(url).pathname + new URL(url).search;
}

it('tells of jobs and batches that ended, of limits that are near, and of no content', async () => {
  const url = await newFeed();
  const madeAt = (await readMy(anna, 'feed.show', {})).made_at ?? 0;
  const empty = await (await fetch(url)).text();
  expect(empty).not.toContain('<entry>');
  expect(empty).toContain(`<updated>${new Date(madeAt).toISOString()}</updated>`);
  const messages = [{ role: 'user', content: SECRET }];
  const job = await submitted(gateway, { messages });
  const items = [chatItem({ messages }), chatItem({ messages })];
  await submitBatch(gateway, items, { label: 'night & day' });
  await gateway.admin('limit.set', { member: gateway.anna.id, day: { requests: 3 } });
  const feed = async () => (await fetch(url)).text();
  await until(async () => (await feed()).includes('2 done'));
  const answer = await fetch(url);
  expect(answer.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
  const text = await answer.text();
  expect(text).toContain('<title>tiny: job done</title>');
  expect(text).toContain(`/jobs/${job.id}"/>`);
  expect(text).toContain('<title>Batch night &amp; day: done</title>');
  expect(text).toContain('You have used 3 of your 3 requests of this day');
  expect(text).not.toContain(SECRET);
  expect(text.match(/<entry>/g)).toHaveLength(3);
  // The same events have the same ids, so that a reader shows each once.
  expect((await feed()).match(/<id>[^<]+/g)).toEqual(text.match(/<id>[^<]+/g));
  expect((await readMy(anna, 'home.show', {})).attention).toContainEqual(
    expect.objectContaining({ kind: 'quota_near', href: '/usage' }),
  );
});

async function statusOf(address: string): Promise<number> {
  return (await fetch(address)).status;
}

it('opens with its newest token alone, and with nothing else', async () => {
  const former = await newFeed();
  const url = await newFeed();
  expect(await statusOf(url)).toBe(200);
  const { origin, pathname } = new URL(url);
  for (const token of [gateway.anna.key, anna.cookie.split('=')[1] ?? '', 'gwe_none', '']) {
    expect(await failureOf(await fetch(`${origin}${pathname}?token=${token}`))).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  }
  expect(await statusOf(former)).toBe(404);
  const token = new URL(url).searchParams.get('token') ?? '';
  const asKey = { headers: { authorization: `Bearer ${token}` } };
  expect((await fetch(`${gateway.baseUrl}/models`, asKey)).status).toBe(401);

  await gateway.admin('user.disable', { member: 'Anna' });
  expect(await statusOf(url)).toBe(404);
  await gateway.admin('user.enable', { member: 'Anna' });
  expect(await statusOf(url)).toBe(200);
  const again = await visit(gateway, 'anna@example.org');
  await my(again, 'feed.revoke', {});
  expect(await statusOf(url)).toBe(404);
  expect((await readMy(again, 'feed.show', {})).made_at).toBeNull();
  expect(await refusal(again, 'feed.revoke', {})).toMatchObject({ status: 404 });
  const audit = await gateway.admin('audit.list', {
    since_s: null,
    actor: null,
    subject: null,
    action: 'feed.revoke',
    limit: 5,
  });
  expect(JSON.stringify(audit)).not.toContain(token);
  expect(audit).toHaveLength(1);
});

it('escapes what names hold, and leaves out what XML has no way to say', () => {
  const title = '<script>&"\u0000\u0008\ud800</title>\u{1f600}';
  const event = { id: 'a&b', title, text: '', at: 0, path: '/x?a=1&b=2' };
  const xml = writeFeed({ events: [event], memberId: 'm', origin: 'http://localhost', madeAt: 0 });
  expect(xml).toContain('<title>&lt;script&gt;&amp;&quot;\ufffd&lt;/title&gt;\u{1f600}</title>');
  expect(xml).toContain('href="http://localhost/x?a=1&amp;b=2"');
});
