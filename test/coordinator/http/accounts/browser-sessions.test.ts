import {
  ConsoleSessions,
  SessionCookie,
} from '@inference-gateway/coordinator/http/accounts/browser-sessions';
import type { RequestState } from '@inference-gateway/coordinator/http/edge/context';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import Koa from 'koa';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createMember } from '../../../store/store-rows.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const SECRET = newSecret('gws');
const COOKIE = `theme=dark; gateway_session=${SECRET}`;
const ADDRESS = '192.0.2.1';

/** Has one session, last used `unusedMs` ago. */
async function openSessions(unusedMs: number) {
  const store = await openStore(await temporaryFolder());
  onTestFinished(() => store.close());
  const now = Date.now() - unusedMs;
  const { id: memberId } = await createMember(store, 'anna');
  await store.createSession(
    {
      hash: hashSecret(SECRET),
      memberId,
      passwordHash: null,
      address: ADDRESS,
      userAgent: '',
      expiresAt: now + 86_400_000,
    },
    now,
  );
  return {
    memberId,
    sessions: new ConsoleSessions({
      store,
      cookie: new SessionCookie(() => 'http://x'),
      now: Date.now,
    }),
  };
}

/**
 * Serves the member of each request's session; returns a function that sends one with the cookie.
 */
async function serve(sessions: ConsoleSessions): Promise<() => Promise<Response>> {
  const app = new Koa<RequestState>();
  app.use(async (ctx) => {
    ctx.state.ip = ADDRESS;
    ctx.body = (await sessions.identify(ctx)).member;
  });
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return () => fetch(`http://127.0.0.1:${port}/`, { headers: { cookie: COOKIE } });
}

test('the cookie lives on with its session, and is written again once a minute only', async () => {
  const { sessions } = await openSessions(61_000);
  const ask = await serve(sessions);
  const first = (await ask()).headers.getSetCookie();
  expect(first).toEqual([
    expect.stringContaining(`gateway_session=${SECRET}; Path=/; Max-Age=2592`),
  ]);
  const next = [await ask(), await ask()];
  expect(next.map(({ status }) => status)).toEqual([200, 200]);
  expect(next.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
});

test('whose socket it is that opens is told by the header alone', async () => {
  const { memberId, sessions } = await openSessions(0);
  const found = await sessions.find({ cookie: COOKIE, address: ADDRESS });
  expect(found?.member.id).toBe(memberId);
  for (const cookie of ['', 'gateway_session=', `gateway_session=${newSecret('gws')}`]) {
    expect(await sessions.find({ cookie, address: ADDRESS })).toBeNull();
  }
  expect(await sessions.find({ cookie: `x${COOKIE.slice(12)}`, address: ADDRESS })).toBeNull();
});
