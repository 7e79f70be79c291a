import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PASSWORD, SAME_ORIGIN, SESSION_PATH } from '../api/account-calls.js';
import { RawCaller } from '../api/raw-caller.js';
import { CHAT, chat, failureOf, post } from '../api/requests.js';
import { visit } from '../api/visitor.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { MIB, rssOf } from '../support/memory.js';
import { startProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

/** Measured: 45 MiB on Node 20 and 96 on 24; 170 and 285 if each piece is kept. */
const MOST_GROWTH = (process.versions.node.startsWith('20.') ? 80 : 128) * MIB;

describe.runIf(process.platform === 'linux')('the memory of the coordinator stays small', () => {
  it('where a body comes one byte at a time', async () => {
    const { gateway, coordinator } = await startProcessGateway([]);
    const before = await rssOf(coordinator.child.pid);
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const bytes = '1\r\n \r\n'.repeat(10_000);
    for (let sent = 0; sent < MIB; sent += 10_000) {
      if (!socket.write(bytes)) await once(socket, 'drain');
    }
    socket.write('0\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('invalid_json');
    expect((await rssOf(coordinator.child.pid)) - before).toBeLessThan(MOST_GROWTH);
  });

  it('where everything in a body is wrong', async () => {
    const { gateway, coordinator } = await startProcessGateway([]);
    const before = await rssOf(coordinator.child.pid);
    const ones = `[${'1,'.repeat(1.9 * MIB)}1]`;
    for (const body of [
      `{"model":"m","messages":${ones}}`,
      `{"model":"m","messages":[{"role":"user","content":${ones}}]}`,
      `{"model":"m","messages":[{"role":"user","content":"x"}],"stop":${ones}}`,
    ]) {
      const response = await fetch(gateway.url + CHAT, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      });
      expect(await failureOf(response)).toMatchObject({ status: 400, code: 'invalid_type' });
    }
    expect((await rssOf(coordinator.child.pid)) - before).toBeLessThan(300 * MIB);
  });
});

describe('a body that is more work than its bytes tell is refused while it comes', () => {
  const announced = 28 * MIB;

  it.each<[string, [string, string], RegExp]>([
    ['objects', ['[', '{},'], /300000 values/],
    ['names', ['{', '"k":0,'], /10000 names/],
    ['levels', ['', '['], /64 levels/],
    ['levels of objects', ['', '{"a":'], /64 levels/],
    ['numbers', ['[', '1,'], /2000000 numbers/],
    ['short texts', ['[', '"",'], /300000 values/],
  ])('of too many %s', async (_what, [head, item], told) => {
    const gateway = await startGateway();
    const caller = new RawCaller(gateway);
    caller.post(gateway.anna.key, { 'content-length': announced });
    caller.socket.write(head);
    const piece = item.repeat(10_000);
    let sent = head.length;
    while (!caller.received.includes('invalid_json') && sent + piece.length < announced) {
      if (!caller.socket.write(piece)) await once(caller.socket, 'drain');
      sent += piece.length;
      await new Promise(setImmediate);
    }
    expect(await caller.status()).toBe(400);
    expect(caller.received).toMatch(told);
    expect(sent).toBeLessThan(announced / 2);
  });
});

it('strangers who enrol cannot use up the memory for the bodies of callers', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: MIB });
  const strangers = Array.from({ length: 4 }, () => {
    const headers = { authorization: 'Bearer gwj_x', 'content-length': 300_000 };
    const stranger = new RawCaller(gateway).head('POST /agent/v1/enroll', headers);
    stranger.socket.write('x'.repeat(299_000));
    return stranger;
  });
  for (const stranger of strangers) expect(await stranger.status()).toBe(413);
  const response = await post(gateway, chat({ padding: 'x'.repeat(0.9 * MIB) }));
  expect(response.status).toBe(404);
});

const padded = (body: object): string => JSON.stringify(body).padEnd(60_000);
const isRefused = ({ received }: RawCaller): boolean => received.includes(' 503 ');

describe('slow bodies of one sender leave the memory of small bodies to the others', () => {
  /** What 4 MiB hold, and some more; each comes up to its last byte. */
  const SENDERS = 75;
  const BYTES = 65_000;
  const json = { 'content-type': 'application/json' };

  /** Until the memory is full, or the sender's part of it. */
  async function fill(
    gateway: TestGateway,
    path: string,
    headersOf: (index: number) => Readonly<Record<string, string>>,
  ): Promise<void> {
    const senders = Array.from({ length: SENDERS }, (_, index) => {
      const headers = { ...json, ...SAME_ORIGIN, ...headersOf(index), 'content-length': BYTES };
      const sender = new RawCaller(gateway).head(`POST ${path}`, headers);
      sender.socket.write(' '.repeat(BYTES - 1));
      return sender;
    });
    await until(() => senders.filter(isRefused).length >= 10, { what: 'refused bodies' });
  }

  it.each<[string, (index: number) => string]>([
    ['an address', () => '203.0.113.9'],
    ['an IPv6 network', (index) => `2001:db8:7:${index.toString(16)}::1`],
  ])('where strangers at %s log in', async (_what, addressOf) => {
    const gateway = await startGateway({ trustProxy: 1 });
    await fill(gateway, SESSION_PATH, (index) => ({ 'x-forwarded-for': addressOf(index) }));
    const response = await fetch(gateway.address + SESSION_PATH, {
      method: 'POST',
      headers: { ...json, ...SAME_ORIGIN, 'x-forwarded-for': '198.51.100.1' },
      body: padded({ email: 'anna@example.org', password: PASSWORD }),
    });
    expect(response.status).toBe(204);
  });

  it('which strangers have once, whatever they ask for', async () => {
    const gateway = await startGateway();
    await fill(gateway, SESSION_PATH, () => ({}));
    const body = padded({ token: 'x' });
    const response = await fetch(`${gateway.address}/api/join`, {
      method: 'POST',
      headers: json,
      body,
    });
    expect(response.status).toBe(503);
  });

  it('where a member changes something', async () => {
    const gateway = await startGateway();
    const { cookie } = await visit(gateway, 'anna@example.org');
    const ben = await visit(gateway, 'ben@example.org');
    await fill(gateway, '/api/console/v1/my/key.create', () => ({ cookie }));
    const response = await ben.fetch('/api/console/v1/my/key.create', {
      method: 'POST',
      headers: json,
      body: padded({ name: 'laptop', scope: 'any', expires_in_s: null }),
    });
    expect(response.status).toBe(200);
  });
});
