import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { connectRawAgent } from '../support/raw-agent.js';
import type { Sent } from './account-calls.js';
import { approve, asking, polling } from './device-calls.js';
import type { DeviceLogIn } from './device-calls.js';
import { act } from './console-calls.js';
import { failureOf } from './requests.js';
import { visit } from './visitor.js';

let gateway: TestGateway;
/** Each machine has its own address; otherwise all would share ten tries a minute. */
let machines = 0;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1 });
});

afterAll(() => gateway.stop());

async function send({ path, headers, ...init }: Sent, to = gateway, from?: string) {
  const address = from ?? `192.0.2.${(machines += 1)}`;
  const response = await fetch(`${to.address}${path}`, {
    ...init,
    headers: { ...headers, 'x-forwarded-for': address },
  });
  await expectDocumented(path, 'POST', response);
  return response;
}

async function ask(body: object = {}, to = gateway): Promise<DeviceLogIn> {
  const response = await send(asking(body), to);
  expect(response.status).toBe(200);
  return (await response.json()) as DeviceLogIn;
}

interface Enrolled {
  readonly provider_id: string;
  readonly name: string;
  readonly token: string;
  readonly approved: boolean;
}

async function collect({ device_code: code }: DeviceLogIn, to = gateway): Promise<Enrolled> {
  const response = await send(polling(code), to);
  expect(response.status).toBe(200);
  return (await response.json()) as Enrolled;
}

async function refusal(deviceCode: unknown, to = gateway): Promise<readonly unknown[]> {
  const { status, type, code } = await failureOf(await send(polling(deviceCode), to));
  return [status, type, code];
}

const ANY = { since_s: null, actor: null, subject: null, limit: 10 };
const LOCK_OUTS = { ...ANY, action: 'device.lockout' };
const NOBODYS = { code: 'ZZZZ-ZZZZ' };
const bad = (code: string) => [400, 'invalid_request_error', code];

describe('a machine that asks', () => {
  it('is told its code, and how somebody approves it', async () => {
    const response = await send(asking());
    expect(response.headers.get('cache-control')).toBe('no-store');
    const told = (await response.json()) as DeviceLogIn;
    expect(told).toMatchObject({ expires_in: 600, interval: 5 });
    expect(told.user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    const command = `gateway-coordinator device approve ${told.user_code} --owner <you>`;
    expect(told.approve).toBe(command);
  });

  it('is listed as who it says it is, and where it asks from, until it is decided', async () => {
    const before = Date.now();
    const { user_code: code } = await ask({ name: 'shed-pc', host: 'shed' });
    const row = (await gateway.admin('device.list', {})).find((one) => one.code === code);
    const address = `192.0.2.${machines}`;
    expect(row).toMatchObject({ name: 'shed-pc', host: 'shed', address, wrong_codes: 0 });
    expect(row?.expires_at).toBe((row?.created_at ?? 0) + 600_000);
    expect(row?.created_at).toBeGreaterThanOrEqual(before);
    await gateway.admin('device.deny', { code });
    const left = await gateway.admin('device.list', {});
    expect(left.map((one) => one.code)).not.toContain(code);
  });

  it.each([
    ['name', { name: 'a/b' }],
    ['host', { host: 'h'.repeat(65) }],
    ['host', { host: 'a\u0007b' }],
  ])('is refused with a %s that nobody could read', async (param, body) => {
    const failure = await failureOf(await send(asking(body)));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param });
  });

  it('may do so ten times a minute from one address', async () => {
    const tries = Array.from({ length: 11 }, () => send(asking(), gateway, '198.51.100.1'));
    const answers = await Promise.all(tries);
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  });
});

describe('the token', () => {
  it('is waited for until somebody has approved, and not without a pause', async () => {
    const [told, other] = [await ask(), await ask()];
    expect(await refusal(told.device_code)).toEqual(bad('authorization_pending'));
    expect(await refusal(told.device_code)).toEqual(bad('slow_down'));
    expect(await refusal(other.device_code)).toEqual(bad('authorization_pending'));
  });

  it('makes the machine a provider of its owner, once', async () => {
    const told = await ask({ name: 'cellar-pc' });
    // As people type it: in lower case and without the hyphen.
    const typed = told.user_code.toLowerCase().replace('-', '');
    const approved = await approve(gateway, typed, 'Ben');
    expect(approved).toMatchObject({ code: told.user_code, name: 'cellar-pc', owner: 'Ben' });
    const made = await collect(told);
    expect(made).toMatchObject({ name: 'cellar-pc', approved: true });
    const agent = await connectRawAgent(gateway.address, made.token);
    expect(await agent.first('WELCOME')).toMatchObject({ provider_id: made.provider_id });
    const failure = await failureOf(await send(polling(told.device_code)));
    expect(failure).toMatchObject({ status: 400, code: 'access_denied' });
    expect(failure.message).toContain('token create --replace');
    const provider = await gateway.admin('provider.show', { provider: made.provider_id });
    expect(provider).toMatchObject({ owner: 'Ben', approved: true });
  });

  it('goes to one of two that ask at the same time', async () => {
    const told = await ask();
    await approve(gateway, told.user_code);
    const answers = await Promise.all([1, 2].map(() => send(polling(told.device_code))));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });

  it('needs no second approval where an administrator has given the first', async () => {
    const own = await startGateway({ trustProxy: 1, providerApproval: true });
    const told = await ask({ name: 'new-pc' }, own);
    await approve(own, told.user_code);
    expect(await collect(told, own)).toMatchObject({ approved: true });
    expect(await own.admin('provider.list', {})).toMatchObject([{ approved: true }]);
  });

  it('is refused to who was denied, to who is unknown, and to nonsense', async () => {
    const told = await ask();
    await gateway.admin('device.deny', { code: told.user_code });
    expect(await refusal(told.device_code)).toEqual(bad('access_denied'));
    expect(await refusal(newSecret('gwd'))).toEqual(bad('expired_token'));
    expect(await refusal(told.user_code)).toEqual(bad('expired_token'));
    expect(await refusal(undefined)).toEqual(bad('missing_required_parameter'));
    expect(await refusal(7)).toEqual(bad('invalid_type'));
  });

  it('is refused where the owner has a machine of that name meanwhile', async () => {
    const [first, second] = [await ask({ name: 'twin-pc' }), await ask({ name: 'twin-pc' })];
    await approve(gateway, first.user_code);
    await approve(gateway, second.user_code);
    await collect(first);
    const failure = await failureOf(await send(polling(second.device_code)));
    expect(failure).toMatchObject({ status: 409, code: 'name_taken' });
  });

  it('waits on while a member types wrong codes and is locked out', async () => {
    const own = await openGateway({ trustProxy: 1 });
    const told = await ask({}, own);
    for (const left of [4, 3, 2, 1]) {
      const wrong = approve(own, 'ZZZZ-ZZZZ');
      await expect(wrong).rejects.toThrow(
        `Wrong codes until you have to wait 15 minutes: ${left}.`,
      );
    }
    const fifth = approve(own, 'ZZZZ-ZZZZ');
    await expect(fifth).rejects.toThrow('wait 15 minutes before the next one');
    await expect(approve(own, told.user_code)).rejects.toThrow('this one was not looked at');
    expect(await refusal(told.device_code, own)).toEqual(bad('authorization_pending'));
    await own.stop();
  });

  it('a member who guesses has to wait, and another one lets the machine in', async () => {
    const own = await openGateway({ trustProxy: 1 });
    const told = await ask({}, own);
    const [guesser, owner] = await Promise.all([
      visit(own, 'ben@example.org'),
      visit(own, 'anna@example.org'),
    ]);
    for (let i = 0; i < 5; i++) {
      const wrong = await failureOf(await act(guesser, ['my', 'device.find'], NOBODYS));
      expect(wrong).toMatchObject({ status: 404, code: 'not_found' });
    }
    const code = { code: told.user_code };
    for (const command of ['device.find', 'device.approve', 'device.deny']) {
      const locked = await act(guesser, ['my', command], code);
      expect(locked.headers.get('retry-after')).toBe('60');
      expect(await failureOf(locked)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    }
    const approved = await act(owner, ['my', 'device.approve'], code);
    expect(approved.status).toBe(200);
    await collect(told, own);
    const [entry] = await own.admin('audit.list', LOCK_OUTS);
    expect(entry).toMatchObject({ subject: { kind: 'user', name: 'Ben' } });
    await own.stop();
  });
});
