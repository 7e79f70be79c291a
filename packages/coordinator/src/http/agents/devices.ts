/**
 * `POST /agent/v1/device` and `/token`: a device requests a code, shows it, and polls until a
 * member has approved it (RFC 8628).
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret, newSecret, newUserCode } from '@inference-gateway/shared/ids';
import { check } from '@inference-gateway/shared/openai/check';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { DEVICE_PATH, DEVICE_TOKEN_PATH } from '@inference-gateway/shared/protocol/version';
import type Router from '@koa/router';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../../core/access/name.js';
import type { CollectedDevice, Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';
import { presentEnrolment } from './enroll.js';

export const DEVICE_TIMES: DeviceTimes = { expiresInS: 600, intervalS: 5 };

/** Per address and minute. */
const MAX_LOG_INS = 10;

/** Ten devices behind one address, each twelve times. */
const MAX_POLLS = 120;

const asking = z.object({
  name: z.string().trim().regex(NAME_PATTERN, NAME_RULE).nullish(),
  host: z
    .string()
    .regex(/^\P{C}{1,64}$/u, 'it has 1 to 64 characters')
    .nullish(),
});

const polling = z.object({ device_code: z.string() });

export interface DeviceTimes {
  /** Time for its approval. */
  readonly expiresInS: number;
  /** Interval between two polls. */
  readonly intervalS: number;
}

export interface DeviceParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  /** Whether an administrator must approve new providers. */
  readonly providerApproval: boolean;
  readonly times: DeviceTimes;
  readonly publicUrl: () => string;
}

export function deviceRoutes(router: Router<RequestState>, parts: DeviceParts): void {
  askRoute(router, parts);
  pollRoute(router, parts);
}

function askRoute(router: Router<RequestState>, parts: DeviceParts): void {
  const { store, bodies, times } = parts;
  const limit = new AddressLimit(MAX_LOG_INS);
  router.post(DEVICE_PATH, async (ctx) => {
    const { ip: address } = ctx.state;
    limit.take(address);
    const { name = null, host = null } = check(asking, await bodies.read(ctx));
    const deviceCode = newSecret('gwd');
    const userCode = newUserCode();
    const now = ctx.state.now();
    const expiresAt = now + times.expiresInS * 1_000;
    const login = { deviceHash: hashSecret(deviceCode), userCode, name, host, address, expiresAt };
    if ((await store.by('agent').createDevice(login, now)) === null) throw full();
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      device_code: deviceCode,
      user_code: userCode,
      ...pagesOf(parts.publicUrl(), userCode),
      expires_in: times.expiresInS,
      interval: times.intervalS,
      approve: `gateway-coordinator device approve ${userCode} --owner <you>`,
    };
  });
}

function pollRoute(router: Router<RequestState>, parts: DeviceParts): void {
  const { store, bodies, providerApproval, times } = parts;
  const limit = new AddressLimit(MAX_POLLS);
  const pace = new PollPace(times.intervalS);
  router.post(DEVICE_TOKEN_PATH, async (ctx) => {
    limit.take(ctx.state.ip);
    const { device_code: deviceCode } = check(polling, await bodies.read(ctx));
    if (!isSecret('gwd', deviceCode)) throw refused('unknown');
    const deviceHash = hashSecret(deviceCode);
    if (pace.isTooEarly(deviceHash, performance.now())) throw tooEarly();
    const token = newSecret('gwa');
    const provider = { deviceHash, tokenHash: hashSecret(token), approved: !providerApproval };
    const outcome = await store.by('agent').collectDevice(provider, ctx.state.now());
    if (outcome.kind === 'waiting') {
      pace.note(deviceHash, performance.now());
      throw stillWaiting();
    }
    pace.forget(deviceHash);
    if (outcome.kind === 'refused') throw refused(outcome.reason);
    if (outcome.kind === 'taken') throw nameTaken();
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentEnrolment(outcome.value, token);
  });
}

/** The page for the code, without and with the code filled in (RFC 8628, section 3.2). */
function pagesOf(origin: string, userCode: string) {
  const page = `${origin}/device`;
  return { verification_uri: page, verification_uri_complete: `${page}?code=${userCode}` };
}

function full(): ApiError {
  const message =
    'Too many machines wait to be let in, of your network or in all. Have those that wait ' +
    'approved or denied, or try again in a while.';
  return new ApiError('capacity_exhausted', message);
}

function stillWaiting(): ApiError {
  return new ApiError('authorization_pending', 'Nobody has approved this log-in yet. Ask again.');
}

function tooEarly(): ApiError {
  const message = 'This came too early: wait 5 seconds longer between two requests from now on.';
  return new ApiError('slow_down', message);
}

type Refusal = Extract<CollectedDevice, { kind: 'refused' }>['reason'];

function refused(reason: Refusal): ApiError {
  const isOver = reason === 'unknown' || reason === 'expired';
  return new ApiError(isOver ? 'expired_token' : 'access_denied', REASONS[reason]);
}

const REASONS: Readonly<Record<Refusal, string>> = {
  unknown: 'There is no log-in of this device code, or not any more. Log in again.',
  expired: 'Nobody approved this log-in in time. Log in again.',
  denied: 'This log-in was denied. Ask the person who denied it.',
  used:
    'This log-in has been used: its provider is registered, and its token was told once. Where ' +
    'that answer was lost, have the provider removed and log in again, or enrol with a token of ' +
    '"token create --replace".',
  'of a disabled member': 'The account that this log-in was approved for is disabled.',
};

function nameTaken(): ApiError {
  const message =
    'The owner has got a provider of this name meanwhile. Log in again with another --name.';
  return new ApiError('name_taken', message, { param: 'name' });
}

/** Each poll that is too early increases the interval by this. */
const SLOWER_BY_MS = 5_000;

/** A timer may fire a little early. */
const TOLERANCE_MS = 100;

/** Waiting devices; beyond it, the one waiting longest is no longer slowed down. */
const MAX_REMEMBERED = 1_000;

/** The polling interval of a device: RFC 8628, section 3.5. */
export class PollPace {
  readonly #intervalS: number;
  readonly #waiting = new Map<string, { at: number; intervalMs: number }>();

  constructor(intervalS: number) {
    this.#intervalS = intervalS;
  }

  /** Whether it is too early at `now` (monotonic ms); an unknown device may poll. */
  isTooEarly(device: string, now: number): boolean {
    const known = this.#waiting.get(device);
    if (known === undefined) return false;
    const isEarly = now - known.at < known.intervalMs - TOLERANCE_MS;
    known.at = now;
    if (isEarly) known.intervalMs += SLOWER_BY_MS;
    return isEarly;
  }

  /** The device was told to wait. */
  note(device: string, now: number): void {
    if (this.#waiting.has(device)) return;
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined && this.#waiting.size >= MAX_REMEMBERED) this.forget(oldest);
    this.#waiting.set(device, { at: now, intervalMs: this.#intervalS * 1_000 });
  }

  /** The device no longer waits. */
  forget(device: string): void {
    this.#waiting.delete(device);
  }
}
