/** Enrolls machines with a code or a join token, and approves codes as administrators do. */
import type { TestGateway } from '../support/gateway.js';
import type { Sent } from './account-calls.js';

const DEVICE_PATH = '/agent/v1/device';
const DEVICE_TOKEN_PATH = '/agent/v1/device/token';

export interface DeviceLogIn {
  readonly device_code: string;
  readonly user_code: string;
  readonly expires_in: number;
  readonly interval: number;
  readonly approve: string;
}

export function asking(body: object = {}): Sent {
  return { path: DEVICE_PATH, ...json(body) };
}

export function polling(deviceCode: unknown): Sent {
  return { path: DEVICE_TOKEN_PATH, ...json({ device_code: deviceCode }) };
}

function json(body: object) {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

export function approve(gateway: TestGateway, code: string, owner = 'Anna') {
  return gateway.admin('device.approve', { code, owner });
}

/**
 * Requests a code, has it approved and collects the token, then tries again; returns the statuses.
 */
export async function logInAsDevice(
  gateway: TestGateway,
  call: (sent: Sent) => Promise<Response>,
): Promise<readonly number[]> {
  const asked = await call(asking({ name: 'porch-pc', host: 'porch' }));
  const { device_code: deviceCode, user_code: userCode } = (await asked.json()) as DeviceLogIn;
  const approved = await approve(gateway, userCode);
  const collected = await call(polling(deviceCode));
  const used = await call(polling(deviceCode));
  if (approved.owner !== 'Anna') throw new Error(JSON.stringify(approved));
  return [asked, collected, used].map(({ status }) => status);
}

/** Enrolls with a join token, then tries the token again; returns the statuses. */
export async function enrolTwice(
  gateway: TestGateway,
  call: (sent: Sent) => Promise<Response>,
): Promise<readonly number[]> {
  const wanted = { owner: 'Anna', name: null, expires_in_s: 60, replace: null };
  const { token } = await gateway.admin('token.create', wanted);
  const { headers, ...sent } = json({ name: 'cellar-pc' });
  const authorized = { ...headers, authorization: `Bearer ${token}` };
  const enrol = () => call({ path: '/agent/v1/enroll', ...sent, headers: authorized });
  return [(await enrol()).status, (await enrol()).status];
}
