import {
  LIVE_CLOSE,
  LIVE_LIMITS,
  LiveHints,
} from '@inference-gateway/coordinator/http/dashboard/live';
import type { Visit } from '@inference-gateway/coordinator/http/accounts/browser-sessions';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { until } from '../../../support/until.js';

type Limits = Partial<typeof LIVE_LIMITS>;

interface Stage {
  readonly live: LiveHints;
  /** The cookies of valid sessions; each is its member's name. */
  readonly sessions: Set<string>;
  readonly visits: Visit[];
  /** Rejects with the status if the upgrade is refused. */
  readonly open: (cookie: string, options?: ClientOptions) => Promise<WebSocket>;
  isFailing: boolean;
}

/** Live hints on their own HTTP server, whose sessions are these cookies. */
async function stage(limits: Limits = {}, trustProxy = 0): Promise<Stage> {
  const sessions = new Set(['anna', 'ben']);
  const visits: Visit[] = [];
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ownOrigins = () => [`http://${address}`];
  const logger = createLogger('silent');
  const find = (visit: Visit) => {
    visits.push(visit);
    if (made.isFailing) return Promise.reject(new Error('no database'));
    return Promise.resolve(sessions.has(visit.cookie) ? loggedIn(visit.cookie) : null);
  };
  const live = new LiveHints({ sessions: { find }, ownOrigins, trustProxy, logger, limits });
  server.on('upgrade', live.upgrade);
  onTestFinished(() => {
    live.close();
    server.close();
  });
  const made: Stage = {
    live,
    sessions,
    visits,
    isFailing: false,
    async open(cookie, { headers, ...options } = {}) {
      const socket = new WebSocket(`ws://${address}`, {
        headers: { cookie, origin: `http://${address}`, ...headers },
        ...options,
      });
      onTestFinished(() => socket.terminate());
      await new Promise<void>((done, failed) => {
        socket.once('open', done).once('error', failed);
      });
      return socket;
    },
  };
  return made;
}

function loggedIn(id: string) {
  const [createdAt, role] = [0, 'member' as const];
  const limits = { requests: null, concurrent: null };
  const member = { id, email: id, name: id, role, limits, createdAt, disabledAt: null };
  const browser = { address: '', userAgent: '', method: 'password' as const };
  const session = { id, memberId: id, memberName: id, ...browser, createdAt };
  return {
    member: { ...member, hasPassword: true, keepsExcerpts: true },
    session: { ...session, lastUsedAt: 0, expiresAt: 0 },
  };
}

/** Collects the messages to the tab. */
function listen(socket: WebSocket): string[] {
  const heard: string[] = [];
  socket.on('message', (data) => heard.push((data as Buffer).toString()));
  return heard;
}

const JOBS = '{"topic":"jobs"}';
const QUEUE = '{"topic":"queue"}';

it('a member has so many tabs and all together so many; one that closes makes room', async () => {
  const { open } = await stage({ tabs: 3, tabsOfMember: 2 });
  const [first] = await Promise.all([open('anna'), open('anna')]);
  await expect(open('anna')).rejects.toThrow('429');
  await open('ben');
  await expect(open('ben')).rejects.toThrow('429');
  first?.close();
  await until(() => open('ben').catch(() => null));
});

it('tabs that come at once are counted as if they came one by one', async () => {
  const { open } = await stage({ tabsOfMember: 2 });
  const opened = await Promise.allSettled(Array.from({ length: 10 }, () => open('anna')));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
});

it('many changes are one hint now and one after the gap', async () => {
  const { open, live } = await stage({ jobsGapMs: 60_000, everybodyGapMs: 60_000 });
  const heard = listen(await open('anna'));
  for (let i = 0; i < 1_000; i++) live.jobsMoved('anna');
  await until(() => heard.includes(JOBS) && heard.includes(QUEUE));
  for (let i = 0; i < 1_000; i++) live.jobsMoved('anna');
  const late = await open('anna');
  late.close();
  await once(late, 'close');
  expect(heard.toSorted()).toEqual([JOBS, QUEUE]);
});

it('a change within the gap is told at its end', async () => {
  const { open, live } = await stage({ jobsGapMs: 100 });
  const heard = listen(await open('anna'));
  const jobs = () => heard.filter((hint) => hint === JOBS).length;
  live.jobsMoved('anna');
  await until(() => jobs() === 1);
  const start = performance.now();
  live.jobsMoved('anna');
  await until(() => jobs() === 2);
  expect(performance.now() - start).toBeGreaterThan(50);
});

it('only the tabs of the member whose jobs moved hear of jobs', async () => {
  const { open, live } = await stage({ jobsGapMs: 1, everybodyGapMs: 1 });
  const [anna, other, ben] = [
    listen(await open('anna')),
    listen(await open('anna')),
    listen(await open('ben')),
  ];
  live.jobsMoved('anna');
  live.jobsMoved('somebody without a tab');
  await until(() => anna.includes(JOBS) && other.includes(JOBS) && ben.includes(QUEUE));
  expect(ben).not.toContain(JOBS);
});

it('who logs out is told so with the next look, and only they', async () => {
  const { open, sessions } = await stage({ lookMs: 20, checkSessionMs: 40 });
  const [anna, also, ben] = await Promise.all([open('anna'), open('anna'), open('ben')]);
  const ended = Promise.all([once(anna, 'close'), once(also, 'close')]);
  sessions.delete('anna');
  expect((await ended).map(([code]) => code as number)).toEqual([
    LIVE_CLOSE.loggedOut,
    LIVE_CLOSE.loggedOut,
  ]);
  expect(ben.readyState).toBe(WebSocket.OPEN);
});

it('the tabs of one browser are looked up together', async () => {
  const { open, visits } = await stage({ lookMs: 20, checkSessionMs: 200 });
  await Promise.all([open('anna'), open('anna'), open('anna')]);
  expect(visits).toHaveLength(3);
  await until(() => visits.length > 3);
  expect(visits).toHaveLength(4);
});

it('a database that fails lets nobody in, and throws nobody out', async () => {
  const made = await stage({ lookMs: 20, checkSessionMs: 20 });
  const tab = await made.open('anna');
  made.isFailing = true;
  await expect(made.open('ben')).rejects.toThrow('503');
  const before = made.visits.length;
  await until(() => made.visits.length > before + 1);
  expect(tab.readyState).toBe(WebSocket.OPEN);
});

it('a tab that gives no sign of life is ended; one that does is not', async () => {
  const { open, live } = await stage({ lookMs: 50, silentMs: 120 });
  const [dead, alive] = await Promise.all([open('anna', { autoPong: false }), open('ben')]);
  const heard = listen(alive);
  expect((await once(dead, 'close'))[0]).toBe(1006);
  live.jobsMoved('ben');
  await until(() => heard.includes(JOBS));
});

it('a tab that takes nothing is ended before more waits for it', async () => {
  const { open, live } = await stage({ jobsGapMs: 1, maxUnsentBytes: -1 });
  const tab = await open('anna');
  live.jobsMoved('anna');
  expect((await once(tab, 'close'))[0]).toBe(1006);
});

it('where a proxy is trusted, the session is used from the address that it names', async () => {
  const { open, visits } = await stage({}, 1);
  await open('anna', { headers: { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' } });
  await open('anna');
  expect(visits.map(({ address }) => address)).toEqual(['192.0.2.2', '127.0.0.1']);
  const direct = await stage();
  await direct.open('anna', { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect(direct.visits.map(({ address }) => address)).toEqual(['127.0.0.1']);
});

it('once closed, it lets nobody in any more', async () => {
  const { open, live } = await stage();
  const tab = await open('anna');
  const closed = once(tab, 'close');
  live.close();
  expect((await closed)[0]).toBe(LIVE_CLOSE.restart);
  await expect(open('anna')).rejects.toThrow('503');
  live.jobsMoved('anna');
  live.capacityChanged();
});
