import { newSecret } from '@inference-gateway/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { SELF, SHARES } from './agent-calls.js';
import { failureOf } from './requests.js';
import { expectDocumented } from '../support/openapi.js';
import { until } from '../support/until.js';
import { CLUB, modelsOf, openCircle } from './sharing-stage.js';
import type { Circle, Home } from './sharing-stage.js';

let circle: Circle;
let den: Home;

beforeEach(async () => {
  circle = await openCircle();
  den = await circle.home(circle.anna);
  await circle.found(circle.ben);
});

/** Sends a request with an agent's token, by default the den's. */
async function ask(
  method: string,
  path: string,
  { body, token = den.agent.token }: { body?: unknown; token?: string | null } = {},
): Promise<Response> {
  const response = await fetch(`${circle.gateway.address}${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await expectDocumented(path, method, response);
  return response;
}

interface Share {
  readonly id: string;
  readonly warning?: string | null;
}

async function share(body: object = {}): Promise<Share> {
  const response = await ask('POST', SHARES, { body: { network: CLUB, ...body } });
  expect(response.status).toBe(201);
  return (await response.json()) as Share;
}

async function refusal(method: string, path: string, options: object) {
  const { status, code, param, message } = await failureOf(await ask(method, path, options));
  return { told: [status, code, param], message };
}

describe('an agent asks how it stands', () => {
  it('is told who it is, its networks and shares, the version and the time', async () => {
    const { id } = await share({ model: 'tiny', slots: 2 });
    const response = await ask('GET', SELF);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const told = (await response.json()) as { server_time: number };
    expect(told).toMatchObject({
      name: 'den-pc',
      owner: 'Anna',
      approved: true,
      draining: false,
      protocols: ['gw-agent.v1'],
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      networks: [{ name: CLUB, members: 2 }],
      shares: [{ id, model: 'tiny', service_id: null, network: CLUB, member: null, slots: 2 }],
    });
    expect(Math.abs(told.server_time - Date.now())).toBeLessThan(60_000);
  });

  it('sees no network that its owner is not in, and no other provider’s shares', async () => {
    await circle.gateway.admin('network.create', { name: 'strangers', owner: 'Ben' });
    const attic = await circle.home(circle.ben, { name: 'attic-pc' });
    await circle.share();
    const body = (await (await ask('GET', SELF, { token: attic.agent.token })).json()) as object;
    expect(body).toMatchObject({ owner: 'Ben', networks: [{ name: CLUB }, {}], shares: [] });
    const own = (await (await ask('GET', SELF)).json()) as { networks: { name: string }[] };
    expect(own.networks.map(({ name }) => name)).toEqual([CLUB]);
  });

  it('waits for approval like the rest of it, and is told so', async () => {
    circle = await openCircle({ providerApproval: true });
    const token = await circle.anna.enroll('new-pc');
    expect(await (await ask('GET', SELF, { token })).json()).toMatchObject({ approved: false });
  });

  it.each([
    ['no token', null, 'missing_api_key'],
    ['an unknown token', newSecret('gwa'), 'invalid_api_key'],
    ['what is no token', 'gwa_short', 'invalid_api_key'],
  ])('is refused with %s', async (_, token, code) => {
    for (const [method, path] of [
      ['GET', SELF],
      ['POST', SHARES],
      ['DELETE', `${SHARES}/1`],
    ] as const) {
      const { told } = await refusal(method, path, { token });
      expect(told).toEqual([401, code, null]);
    }
  });

  it('is refused with a key of its owner: that opens the API alone', async () => {
    const { told } = await refusal('GET', SELF, { token: circle.anna.key });
    expect(told).toEqual([401, 'invalid_api_key', null]);
  });

  it('is refused while its owner is disabled, and let in again after', async () => {
    await circle.gateway.admin('user.disable', { member: 'Anna' });
    expect((await refusal('GET', SELF, {})).told).toEqual([403, 'owner_disabled', null]);
    const sharing = await refusal('POST', SHARES, { body: { network: CLUB } });
    expect(sharing.told).toEqual([403, 'owner_disabled', null]);
    await circle.gateway.admin('user.enable', { member: 'Anna' });
    expect((await ask('GET', SELF)).status).toBe(200);
  });

  it('may ask 120 times a minute from one address', async () => {
    for (let i = 0; i < 120; i++) await (await ask('GET', SELF, { token: null })).text();
    const { told } = await refusal('GET', SELF, {});
    expect(told).toEqual([429, 'rate_limit_exceeded', null]);
  });
});

describe('an agent shares', () => {
  it('all of it, with the next call, and shares it no longer with the next', async () => {
    expect(await modelsOf(circle.ben)).toEqual([]);
    const { id, warning } = await share();
    expect(warning).toBeNull();
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
    expect((await ask('DELETE', `${SHARES}/${id}`)).status).toBe(204);
    expect(await modelsOf(circle.ben)).toEqual([]);
    const again = await refusal('DELETE', `${SHARES}/${id}`, {});
    expect(again.told).toEqual([404, 'share_not_found', null]);
  });

  it('the same twice, which is one share with the newer caps', async () => {
    const first = await share({ slots: 1 });
    const hours = { hours: '22:00-07:00', time_zone: 'Europe/Berlin' };
    const second = await share({ slots: 3, max_tokens: 100, ...hours });
    expect(second.id).toBe(first.id);
    const [row] = (await circle.gateway.admin('provider.show', { provider: 'den-pc' })).shares;
    expect(row).toMatchObject({ slots: 3, max_tokens: 100, hours: '22:00-07:00 Europe/Berlin' });
  });

  it('one service or one model alone', async () => {
    const roof = await circle.home(circle.anna, { name: 'roof-pc', models: ['a', 'b'] });
    const response = await ask('POST', SHARES, {
      body: { network: CLUB, model: 'b' },
      token: roof.agent.token,
    });
    expect(response.status).toBe(201);
    expect(await modelsOf(circle.ben)).toEqual(['b']);
  });

  it('256 times at most, and gives those that are there new caps all the same', async () => {
    const all = { provider: 'den-pc', service: null, network: CLUB, user: null };
    const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
    const models = Array.from({ length: 256 }, (_, index) => `model-${index}`);
    const put = (model: string) =>
      circle.gateway.admin('provider.share', { ...all, ...caps, model });
    await Promise.all(models.map(put));
    const { told, message } = await refusal('POST', SHARES, { body: { network: CLUB } });
    expect(told).toEqual([400, 'invalid_value', null]);
    expect(message).toContain('has 256 shares');
    expect(await share({ model: 'model-7', slots: 2 })).toMatchObject({ slots: 2 });
  });

  it('what it does not serve as yet, with a warning', async () => {
    const { warning } = await share({ model: 'tinny' });
    expect(warning).toMatch(/serves no model 'tinny' as yet.* Did you mean tiny\?/);
  });

  it('with networks of its owner only, whether or not there are others', async () => {
    await circle.gateway.admin('network.create', { name: 'strangers', owner: 'Ben' });
    for (const network of ['strangers', 'nobody']) {
      const { told, message } = await refusal('POST', SHARES, { body: { network } });
      expect(told).toEqual([404, 'network_not_found', 'network']);
      expect(message).toBe(`The owner is in no network '${network}'. Their networks: club.`);
    }
    const near = await refusal('POST', SHARES, { body: { network: 'clubb' } });
    expect(near.message).toContain('Did you mean club?');
  });

  it.each([
    [{}, 'missing_required_parameter', 'network'],
    [{ network: CLUB, slots: 0 }, 'invalid_value', 'slots'],
    [{ network: CLUB, slots: 'two' }, 'invalid_type', 'slots'],
    [{ network: CLUB, max_tokens: 1e9 }, 'invalid_value', 'max_tokens'],
    [{ network: CLUB, max_slots: 2 }, 'invalid_value', null],
    [{ network: CLUB, service_id: 'x', model: 'y' }, 'invalid_value', 'model'],
    [{ network: CLUB, hours: '22:00-07:00' }, 'invalid_value', 'time_zone'],
    [{ network: CLUB, hours: '7-8', time_zone: 'UTC' }, 'invalid_value', 'hours'],
    [{ network: CLUB, hours: '07:00-08:00', time_zone: 'Nowhere' }, 'invalid_value', 'time_zone'],
  ])('nothing where a field is wrong: %j', async (body, code, param) => {
    expect((await refusal('POST', SHARES, { body })).told).toEqual([400, code, param]);
    expect(await modelsOf(circle.ben)).toEqual([]);
  });

  it('nothing of another provider, of the same owner neither', async () => {
    const { id } = await share();
    const other = await circle.home(circle.anna, { name: 'roof-pc', models: ['roof'] });
    const { told } = await refusal('DELETE', `${SHARES}/${id}`, { token: other.agent.token });
    expect(told).toEqual([404, 'share_not_found', null]);
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
  });

  it('in its own name, as the audit log tells', async () => {
    const { id } = await share();
    await ask('DELETE', `${SHARES}/${id}`);
    const gateway = circle.gateway;
    const provider = (await gateway.admin('provider.list', {})).find(
      ({ owner }) => owner === 'Anna',
    );
    const query = { since_s: null, action: 'provider', actor: null, subject: id, limit: 10 };
    const entries = await until(() => gateway.admin('audit.list', query));
    const actor = `provider:${provider?.id ?? ''}`;
    expect(entries.map((one) => [one.action, one.actor])).toEqual([
      ['provider.unshare', actor],
      ['provider.share', actor],
    ]);
  });
});
