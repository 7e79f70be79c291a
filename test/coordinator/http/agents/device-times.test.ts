import { smallBodies } from '@inference-gateway/coordinator/http/bodies/body';
import { createRouter } from '@inference-gateway/coordinator/http/edge/app';
import type { AppParts } from '@inference-gateway/coordinator/http/edge/app';
import { errorBoundary } from '@inference-gateway/coordinator/http/edge/errors';
import { identify } from '@inference-gateway/coordinator/http/edge/edge';
import type { RequestState } from '@inference-gateway/coordinator/http/edge/context';
import type { DeviceTimes } from '@inference-gateway/coordinator/http/agents/devices';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { createLogger } from '@inference-gateway/shared/program/logger';
import Koa from 'koa';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { asking, polling } from '../../../api/device-calls.js';
import type { DeviceLogIn } from '../../../api/device-calls.js';
import type { Sent } from '../../../api/account-calls.js';
import { createMember } from '../../../store/store-rows.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

/** A placeholder for the parts of all other routes, which are registered here and never called. */
const anything: object = new Proxy(() => anything, { get: () => anything });

interface Served {
  readonly store: Store;
  /** Polls; returns the token, or the code of the error. */
  readonly poll: (code: string) => Promise<string>;
  readonly ask: () => Promise<DeviceLogIn>;
}

const publicUrl = (): string => 'http://gateway.example.org';

/** Only the routes, with a real store and with times that a test can wait for. */
async function serve(times: DeviceTimes): Promise<Served> {
  const store = await openStore(await temporaryFolder());
  const app = new Koa<RequestState>();
  const logger = createLogger('silent');
  const enrollment = { providerApproval: false, deviceTimes: times, onReplaced: () => {} };
  const small = smallBodies();
  const own: Readonly<Record<string, unknown>> = { store, enrollment, publicUrl, small };
  const parts = new Proxy(own, { get: (_, name) => own[String(name)] ?? anything });
  const router = createRouter(parts as unknown as AppParts);
  app.use(identify(logger, SYSTEM_CLOCK)).use(errorBoundary(logger)).use(router.routes());
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await store.close();
  });
  const send = async ({ path, ...init }: Sent): Promise<unknown> => {
    const { port } = server.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}${path}`, init)).json();
  };
  return {
    store,
    ask: async () => (await send(asking())) as DeviceLogIn,
    poll: async (code) => {
      const answer = (await send(polling(code))) as { token?: string; error?: { code: string } };
      return answer.token ?? answer.error?.code ?? '';
    },
  };
}

test('a log-in ends when its time is over, and cannot be approved any more', async () => {
  const { store, ask, poll } = await serve({ expiresInS: 0.3, intervalS: 0.01 });
  const anna = await createMember(store, 'anna');
  const { device_code: code, user_code: userCode, ...told } = await ask();
  expect(told).toMatchObject({ expires_in: 0.3, interval: 0.01 });
  const seen = new Set<string>();
  await until(async () => seen.add(await poll(code)).has('expired_token'));
  expect([...seen]).toEqual(['authorization_pending', 'expired_token']);
  const approval = { userCode, address: null, ownerId: anna.id, approvesProvider: true };
  expect(await store.approveDevice(approval, Date.now())).toMatchObject({ kind: 'over' });
  expect(await store.listProviders()).toEqual([]);
});

test('a device that keeps to the pace gets the token with the first answer after', async () => {
  const { store, ask, poll } = await serve({ expiresInS: 60, intervalS: 0.01 });
  const anna = await createMember(store, 'anna');
  const { device_code: code, user_code: userCode } = await ask();
  expect(await poll(code)).toBe('authorization_pending');
  await store.approveDevice(
    { userCode, address: null, ownerId: anna.id, approvesProvider: true },
    Date.now(),
  );
  expect(await poll(code)).toMatch(/^gwa_/);
});

test('a device that asks too early is told to slow down, approved or not', async () => {
  const { store, ask, poll } = await serve({ expiresInS: 60, intervalS: 60 });
  const anna = await createMember(store, 'anna');
  const { device_code: code, user_code: userCode } = await ask();
  expect([await poll(code), await poll(code)]).toEqual(['authorization_pending', 'slow_down']);
  await store.approveDevice(
    { userCode, address: null, ownerId: anna.id, approvesProvider: true },
    Date.now(),
  );
  expect(await poll(code)).toBe('slow_down');
});
