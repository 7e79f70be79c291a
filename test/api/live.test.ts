import { LIVE_PATH } from '@inference-gateway/coordinator/http/dashboard/live';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { MEMBER_PASSWORD, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { cookieOf, loggingIn, SAME_ORIGIN, SESSION_PATH } from './account-calls.js';
import { chat, post } from './requests.js';

let served: ServedGateway;
let gateway: TestGateway;

beforeAll(async () => {
  served = await openServedGateway();
  ({ gateway } = served);
  // Jobs stay queued until a test resumes the queue.
  await gateway.admin('queue.pause', {});
});

afterAll(() => served.stop());

async function logIn(email: string, to = gateway): Promise<string> {
  const { path, ...init } = loggingIn(email, MEMBER_PASSWORD);
  return cookieOf(await fetch(`${to.address}${path}`, init));
}

interface Tab {
  readonly socket: WebSocket;
  /** The topics of its messages so far; tests may clear them. */
  topics: string[];
}

async function openTab(cookie: string, to = gateway): Promise<Tab> {
  const url = `${to.address.replace('http', 'ws')}${LIVE_PATH}`;
  const socket = new WebSocket(url, { headers: { cookie, origin: to.address } });
  onTestFinished(() => socket.terminate());
  const tab: Tab = { socket, topics: [] };
  socket.on('message', (data) => {
    tab.topics.push((JSON.parse((data as Buffer).toString()) as { topic: string }).topic);
  });
  await once(socket, 'open');
  return tab;
}

/** Requests an upgrade by hand; returns the status, and the error if it was refused. */
async function ask(headers: OutgoingHttpHeaders): Promise<object> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  const url = `${gateway.address}${LIVE_PATH}?x=1`;
  const sent = request(url, { headers: { ...upgrade, ...headers } }).end();
  const upgraded = once(sent, 'upgrade').then(([, socket]) => {
    (socket as Socket).destroy();
    return { status: 101 };
  });
  const refused = once(sent, 'response').then(async ([answer]) => {
    const { statusCode: status } = answer as IncomingMessage;
    return { status, ...((await json(answer as IncomingMessage)) as object) };
  });
  return Promise.race([upgraded, refused]);
}

const submit = () => post(gateway, chat({ model: 'tiny', async: true }));

describe('only a page of the gateway, with a session, is let in', () => {
  it.each([
    ['no cookie', () => ''],
    ['a cookie of no session', () => `gateway_session=gws_${'a'.repeat(49)}`],
    ['a key', () => `gateway_session=${gateway.anna.key}`],
  ])('not with %s', async (_, cookie) => {
    const headers = { cookie: cookie(), origin: gateway.address };
    expect(await ask({ ...headers, authorization: `Bearer ${gateway.anna.key}` })).toMatchObject({
      status: 401,
      error: { type: 'not_authenticated', code: 'not_logged_in' },
    });
  });

  it.each([
    ['another site', { origin: 'https://evil.example.com' }],
    ['another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['nothing named', {}],
    ['something hidden', { origin: 'null' }],
  ])('not from %s', async (_, headers) => {
    const cookie = await logIn(gateway.anna.email);
    expect(await ask({ cookie, ...headers })).toMatchObject({
      status: 403,
      error: { type: 'forbidden', code: 'foreign_origin' },
    });
  });

  it('from whatever name the page was opened under', async () => {
    const cookie = await logIn(gateway.anna.email);
    const { port } = new URL(gateway.address);
    const headers = {
      cookie,
      host: `gateway.local:${port}`,
      origin: `http://gateway.local:${port}`,
    };
    expect(await ask(headers)).toEqual({ status: 101 });
  });

  it('not after log-out', async () => {
    const cookie = await logIn(gateway.anna.email);
    const headers = { cookie, ...SAME_ORIGIN };
    await fetch(`${gateway.address}${SESSION_PATH}`, { method: 'DELETE', headers });
    expect(await ask({ cookie, origin: gateway.address })).toMatchObject({ status: 401 });
  });
});

describe('a tab hears', () => {
  it('soon of a new job, of its cancellation and of its retry', async () => {
    const tab = await openTab(await logIn(gateway.anna.email));
    const start = performance.now();
    const job = (await (await submit()).json()) as { id: string };
    await until(() => tab.topics.includes('jobs') && tab.topics.includes('queue'));
    for (const verb of ['cancel', 'retry']) {
      tab.topics = [];
      await gateway.fetch(`/v1/jobs/${job.id}/${verb}`, { method: 'POST' });
      await until(() => tab.topics.includes('jobs'));
    }
    // At most a second for each of the three.
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  it('of a job that is begun and ends', async () => {
    const tab = await openTab(await logIn(gateway.anna.email));
    await submit();
    await until(() => tab.topics.includes('jobs'));
    tab.topics = [];
    await gateway.admin('queue.resume', {});
    await until(() => tab.topics.includes('jobs'));
    await gateway.admin('queue.pause', {});
  });

  it('of a new batch', async () => {
    const tab = await openTab(await logIn(gateway.anna.email));
    const item = { endpoint: '/v1/chat/completions', body: chat({ model: 'tiny' }) };
    await post(gateway, { requests: [item] }, { path: '/v1/batches' });
    await until(() => tab.topics.includes('jobs'));
  });

  it('of a provider that comes and of one that goes, whosever it is', async () => {
    const tab = await openTab(await logIn(gateway.anna.email));
    const agent = await gateway.startAgent({ owner: gateway.ben, services: [{}] });
    await until(() => tab.topics.includes('providers'));
    // Wait for the messages about the arrival first.
    await until(() => tab.topics.filter((topic) => topic === 'queue').length > 0);
    tab.topics = [];
    await agent.stop();
    await until(() => tab.topics.includes('providers'));
  });

  it('nothing of somebody else’s jobs but that the queue has moved', async () => {
    const [anna, ben] = [
      await openTab(await logIn(gateway.anna.email)),
      await openTab(await logIn(gateway.ben.email)),
    ];
    await submit();
    await until(() => anna.topics.includes('jobs') && ben.topics.includes('queue'));
    // Once a second job has been reported, no message about the first can still be on its way.
    anna.topics = [];
    await submit();
    await until(() => anna.topics.includes('jobs') && anna.topics.includes('queue'));
    expect(ben.topics).not.toContain('jobs');
  });

  it('of fifty changes at once a handful of times', async () => {
    const tab = await openTab(await logIn(gateway.anna.email));
    await Promise.all(Array.from({ length: 50 }, submit));
    await until(() => tab.topics.includes('jobs'));
    const last = await openTab(await logIn(gateway.anna.email));
    await submit();
    await until(() => last.topics.includes('jobs'));
    expect(tab.topics.filter((topic) => topic === 'jobs').length).toBeLessThan(8);
  });
});

describe('a tab is ended', () => {
  it('when it says anything', async () => {
    const { socket } = await openTab(await logIn(gateway.anna.email));
    socket.send('hello');
    expect((await once(socket, 'close'))[0]).toBe(1008);
  });

  it('when it says something long', async () => {
    const { socket } = await openTab(await logIn(gateway.anna.email));
    socket.send('x'.repeat(1_000_000));
    expect((await once(socket, 'close'))[0]).toBe(1009);
  });

  it('when the gateway stops, which does not wait for it', async () => {
    const own = await startGateway();
    const { socket } = await openTab(await logIn(own.anna.email, own), own);
    const closed = once(socket, 'close');
    const start = performance.now();
    await own.stop();
    expect((await closed)[0]).toBe(1012);
    expect(performance.now() - start).toBeLessThan(1_900);
  });
});
