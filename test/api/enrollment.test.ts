import { newSecret } from '@inference-gateway/shared/ids';
import type { AdminArgs } from '@inference-gateway/coordinator/operations/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { failureOf } from './requests.js';

const PATH = '/agent/v1/enroll';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openGateway();
});

afterAll(() => gateway.stop());

async function enroll(token: string, body: object = {}, to = gateway): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${to.address}${PATH}`, init);
  await expectDocumented(PATH, 'POST', response);
  return response;
}

async function joinToken(
  fields: Partial<AdminArgs<'token.create'>> = {},
  to = gateway,
): Promise<{ readonly id: string; readonly token: string }> {
  const rest = { owner: 'Anna', name: null, expires_in_s: 60, replace: null };
  return to.admin('token.create', { ...rest, ...fields });
}

interface Enrolled {
  readonly provider_id: string;
  readonly name: string;
  readonly token: string;
  readonly approved: boolean;
}

async function enrolled(token: string, body: object = {}, to = gateway): Promise<Enrolled> {
  const response = await enroll(token, body, to);
  expect(response.status).toBe(200);
  return (await response.json()) as Enrolled;
}

describe('a join token', () => {
  it('makes a provider, whose agent can then connect', async () => {
    const { token } = await joinToken();
    const made = await enrolled(token, { name: 'attic-pc' });
    expect(made).toMatchObject({ name: 'attic-pc', approved: true });
    const agent = await connectRawAgent(gateway.address, made.token);
    expect(await agent.first('WELCOME')).toMatchObject({ provider_id: made.provider_id });
  });

  it('is written down as spent by an agent', async () => {
    const { token } = await joinToken();
    const { provider_id: subject } = await enrolled(token, { name: 'audited-pc' });
    const question = { since_s: null, action: 'provider.enroll', actor: null, subject, limit: 9 };
    expect(await gateway.admin('audit.list', question)).toMatchObject([{ actor: 'agent' }]);
  });

  it.each([
    ['unknown', 'it is unknown', () => newSecret('gwj')],
    [
      'used',
      'it has been used',
      async () => {
        const { token } = await joinToken();
        await enrolled(token);
        return token;
      },
    ],
    [
      'revoked',
      'it has been revoked',
      async () => {
        const { id, token } = await joinToken();
        await gateway.admin('token.revoke', { token: id });
        return token;
      },
    ],
    [
      'expired',
      'it has expired',
      async () => {
        const { token } = await joinToken({ expires_in_s: 1 });
        const endsAt = Date.now() + 1_000;
        await until(() => Date.now() > endsAt, { what: 'the token to expire' });
        return token;
      },
    ],
    [
      'of a disabled member',
      "its owner's account is disabled",
      async () => {
        const member = { email: 'off@example.org', name: 'Off', admin: false, password: null };
        await gateway.admin('user.create', member);
        const { token } = await joinToken({ owner: 'Off' });
        await gateway.admin('user.disable', { member: 'Off' });
        return token;
      },
    ],
  ])('that is %s is refused, with the reason', async (_, reason, make) => {
    expect(await failureOf(await enroll(await make()))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      message: `The join token is not accepted: ${reason}. Ask the admin for a new one.`,
    });
  });

  it('is kept where the name is taken or not allowed', async () => {
    const [first, second] = [await joinToken(), await joinToken()];
    await enrolled(first.token, { name: 'twin-pc' });
    const taken = await failureOf(await enroll(second.token, { name: 'Twin-PC' }));
    expect(taken).toMatchObject({ status: 409, code: 'name_taken', param: 'name' });
    const wrong = await failureOf(await enroll(second.token, { name: 'a/b' }));
    expect(wrong).toMatchObject({ status: 400, code: 'invalid_value', param: 'name' });
    expect(await enrolled(second.token, { name: 'other-pc' })).toMatchObject({ approved: true });
  });
});

describe('a token that replaces that of a provider', () => {
  it('keeps the provider, and closes the link of the old one for good', async () => {
    const first = await joinToken();
    const old = await enrolled(first.token, { name: 'moved-pc' });
    const agent = await connectRawAgent(gateway.address, old.token);
    await agent.first('WELCOME');
    const { token } = await joinToken({ replace: 'moved-pc' });
    const made = await enrolled(token, { name: 'another name' });
    expect(made).toMatchObject({ provider_id: old.provider_id, name: 'moved-pc' });
    expect(made.token).not.toBe(old.token);
    await until(() => agent.closeCode !== null, { what: 'the old link to close' });
    expect(agent.closeCode).toBe(4001);
    const again = await connectRawAgent(gateway.address, made.token);
    expect(await again.first('WELCOME')).toMatchObject({ provider_id: old.provider_id });
  });

  it('leaves the links of others alone', async () => {
    const other = await enrolled((await joinToken()).token, { name: 'bystander-pc' });
    const agent = await connectRawAgent(gateway.address, other.token);
    await agent.first('WELCOME');
    await enrolled((await joinToken()).token, { name: 'moving-pc' });
    await enrolled((await joinToken({ replace: 'moving-pc' })).token);
    await enrolled((await joinToken()).token, { name: 'late-pc' });
    expect(agent.closeCode).toBeNull();
  });
});

describe('where new providers are looked at first', () => {
  it('enrolling says so, and enrolling again after the approval says that it is over', async () => {
    const own = await startGateway({ providerApproval: true });
    const { token } = await joinToken({}, own);
    const made = await enrolled(token, { name: 'new-pc' }, own);
    expect(made.approved).toBe(false);
    await own.admin('provider.approve', { provider: 'new-pc' });
    const again = await joinToken({ replace: 'new-pc' }, own);
    expect(await enrolled(again.token, {}, own)).toMatchObject({ approved: true });
  });
});
