import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { RawCaller } from './raw-caller.js';
import { administer, CHAT, chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openGateway();
});

afterAll(() => gateway.stop());

function list(authorization: string | null): Promise<Response> {
  const headers: Record<string, string> = authorization === null ? {} : { authorization };
  return fetch(`${gateway.baseUrl}/models`, { headers });
}

async function createKey(name: string, fields: object = {}): Promise<{ key: string; id: string }> {
  const args = { user: 'Anna', name, scope: 'any', expires_in_s: null, ...fields };
  return (await administer(gateway, 'key.create', args)) as { key: string; id: string };
}

describe('every endpoint requires an API key', () => {
  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/models/tiny'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/completions'],
    ['POST', '/v1/audio/transcriptions'],
    ['POST', '/v1/audio/speech'],
    ['GET', '/v1/audio/voices'],
    ['POST', '/v1/images/generations'],
    ['POST', '/v1/images/edits'],
    ['POST', '/v1/videos/generations'],
    ['POST', '/v1/music/generations'],
    ['POST', '/v1/voice/generations'],
    ['GET', '/v1/jobs'],
    ['POST', '/v1/jobs/x/cancel'],
    ['POST', '/v1/batches'],
    ['GET', '/v1/no/such/path'],
    ['GET', '/api/inference/queue/summary'],
  ])('%s %s', async (method, path) => {
    const response = await fetch(`${gateway.address}${path}`, { method });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await failureOf(response)).toMatchObject({
      status: 401,
      type: 'not_authenticated',
      code: 'missing_api_key',
      param: null,
      retry: null,
    });
  });
});

describe('a missing or invalid key gives 401 with error type not_authenticated', () => {
  it.each([
    ['no header', null, 'missing_api_key'],
    ['an empty header', '', 'missing_api_key'],
    ['another scheme', 'Basic YW5uYTpwdw==', 'missing_api_key'],
    ['a scheme alone', 'Bearer', 'missing_api_key'],
    ['two keys', 'Bearer gwk_one gwk_two', 'missing_api_key'],
    ['a stranger’s key', 'Bearer sk-0123456789', 'invalid_api_key'],
    ['a well-formed key that nobody has', `Bearer ${newSecret('gwk')}`, 'invalid_api_key'],
    ['an agent’s token', `Bearer ${newSecret('gwa')}`, 'invalid_api_key'],
    ['a join token', `Bearer ${newSecret('gwj')}`, 'invalid_api_key'],
  ])('%s', async (_, header, code) => {
    const response = await list(header);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(response.headers.get('x-ratelimit-limit')).toBeNull();
    expect(await failureOf(response)).toMatchObject({
      status: 401,
      type: 'not_authenticated',
      code,
    });
  });

  it('a truncated key is not repeated in the message', async () => {
    const { key } = gateway.anna;
    const { message, code } = await failureOf(await list(`Bearer ${key.slice(0, -1)}`));
    expect(code).toBe('invalid_api_key');
    expect(message).not.toContain(key.slice(0, 16));
  });

  it("an agent's real token opens nothing here", async () => {
    const token = await gateway.anna.enroll('some-pc');
    expect(await failureOf(await list(`Bearer ${token}`))).toMatchObject({ status: 401 });
  });
});

it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme %s is accepted', async (scheme) => {
  expect((await list(`${scheme} ${gateway.anna.key}`)).status).toBe(200);
  expect((await list(`${scheme}   ${gateway.anna.key}`)).status).toBe(200);
});

describe('a key', () => {
  it('stops at once when it is disabled, and works again when it is enabled', async () => {
    const { key, id } = await createKey('laptop');
    expect((await list(`Bearer ${key}`)).status).toBe(200);
    await administer(gateway, 'key.disable', { key: id });
    expect(await failureOf(await list(`Bearer ${key}`))).toMatchObject({
      status: 401,
      type: 'not_authenticated',
      code: 'disabled_api_key',
    });
    await administer(gateway, 'key.enable', { key: id });
    expect((await list(`Bearer ${key}`)).status).toBe(200);
  });

  it('stops at once when it is revoked, and is then as unknown as any other', async () => {
    const { key, id } = await createKey('phone');
    expect((await list(`Bearer ${key}`)).status).toBe(200);
    await administer(gateway, 'key.revoke', { key: id });
    expect(await failureOf(await list(`Bearer ${key}`))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });

  it('stops when it expires', async () => {
    const { key } = await createKey('guest', { expires_in_s: 1 });
    expect((await list(`Bearer ${key}`)).status).toBe(200);
    const expired = await until(async () => {
      const response = await list(`Bearer ${key}`);
      return response.status === 401 ? response : null;
    });
    expect(await failureOf(expired)).toMatchObject({
      type: 'not_authenticated',
      code: 'expired_api_key',
    });
  });

  it('says that it has been rotated once the time of the old one is over', async () => {
    const old = await createKey('turned');
    const rotated = await gateway.admin('key.rotate', { key: old.id, overlap_s: 1 });
    expect((await list(`Bearer ${old.key}`)).status).toBe(200);
    expect((await list(`Bearer ${rotated.key}`)).status).toBe(200);
    const over = await until(async () => {
      const response = await list(`Bearer ${old.key}`);
      return response.status === 401 ? response : null;
    });
    expect(await failureOf(over)).toMatchObject({
      code: 'expired_api_key',
      message: `The API key ${old.key.slice(0, 12)}… has been rotated. Use the new one.`,
    });
    expect((await list(`Bearer ${rotated.key}`)).status).toBe(200);
  });

  it('of one name does not stop another of the same member', async () => {
    const { id } = await createKey('old');
    const { key } = await createKey('new');
    await administer(gateway, 'key.revoke', { key: id });
    expect((await list(`Bearer ${key}`)).status).toBe(200);
  });
});

it('the keys of a disabled member stop at once, and work again when they are enabled', async () => {
  const carl = { email: 'carl@example.org', name: 'Carl', admin: false, password: null };
  await gateway.admin('user.create', carl);
  const { key } = await createKey('laptop', { user: 'Carl' });
  expect((await list(`Bearer ${key}`)).status).toBe(200);
  await gateway.admin('user.disable', { member: 'Carl' });
  expect(await failureOf(await list(`Bearer ${key}`))).toMatchObject({
    status: 401,
    type: 'not_authenticated',
    code: 'disabled_api_key',
    message: 'Your account is disabled. Ask the admin.',
  });
  await gateway.admin('user.enable', { member: 'Carl' });
  expect((await list(`Bearer ${key}`)).status).toBe(200);
});

it('the key is checked before the body is read', async () => {
  const caller = new RawCaller(gateway);
  caller.post('gwk_wrong', { 'content-length': 1_000_000 });
  expect(await caller.status()).toBe(401);
});

it('a wrong key is told before anything else that is wrong', async () => {
  const headers = { authorization: 'Bearer wrong', 'content-type': 'text/plain' };
  expect((await post(gateway, '{', { headers })).status).toBe(401);
  expect((await post(gateway, '', { path: '/v1/nothing', headers })).status).toBe(401);
});

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  it('raises AuthenticationError with type and code', async () => {
    const client = connect(Sdk, gateway, { apiKey: 'gwk_wrong', maxRetries: 2 });
    const failure = await client.chat.completions.create(chat()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.AuthenticationError);
    expect(failure).toMatchObject({
      status: 401,
      type: 'not_authenticated',
      code: 'invalid_api_key',
      requestID: expect.stringMatching(/^req_/) as string,
    });
  });
});

it('a query parameter or a cookie is no key', async () => {
  const { key } = gateway.anna;
  const url = `${gateway.address}${CHAT}?api_key=${key}`;
  const response = await fetch(url, { method: 'POST', headers: { cookie: `key=${key}` } });
  expect(response.status).toBe(401);
});
