import { MY_COMMANDS } from '@inference-gateway/coordinator/operations/my/commands';
import type { MyName } from '@inference-gateway/coordinator/operations/my/commands';
import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { act, ask, my, readMy, refusal } from './console-calls.js';
import { accepted, BATCHES, chatItem, submitBatch } from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { failureOf } from './requests.js';
import { visit, visitorWith } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
let anna: Visitor;
let ben: Visitor;
type Field = 'key' | 'token' | 'provider' | 'network' | 'invite' | 'session' | 'job';
/** Ids of things that belong to Ben. */
let bens: Readonly<Record<Field, string>>;

beforeAll(async () => {
  gateway = await openGateway();
  anna = await visit(gateway, 'anna@example.org');
  ben = await visit(gateway, 'ben@example.org');
  bens = await stockUp(ben);
});

afterAll(() => gateway.stop());

async function stockUp(visitor: Visitor): Promise<typeof bens> {
  const key = await my(visitor, 'key.create', { name: 'own', scope: 'any', expires_in_s: null });
  const token = await my(visitor, 'token.create', { name: null, expires_in_s: 60, replace: null });
  await gateway.ben.enroll('bens-pc');
  const [provider] = await readMy(visitor, 'provider.list', {});
  const network = await my(visitor, 'network.create', { name: 'bens-friends' });
  const wanted = { email: 'dov@example.org', network: network.id, expires_in_s: 60 };
  const invite = await my(visitor, 'user.invite', wanted);
  const [session] = await readMy(visitor, 'user.sessions', {});
  return {
    key: key.id,
    token: token.id,
    provider: provider?.id ?? '',
    network: network.id,
    invite: invite.id,
    session: session?.id ?? '',
    job: await firstJob(visitor),
  };
}

/** Batches accept items that no provider serves. */
async function firstJob(visitor: Visitor): Promise<string> {
  const { id } = await accepted<BatchBody>(await submitBatch(visitor, [chatItem()]));
  const { jobs } = (await (await visitor.fetch(`${BATCHES}/${id}`)).json()) as {
    jobs: { id: string }[];
  };
  return jobs[0]?.id ?? '';
}

const NO_SHARE = { service: null, model: null, network: null, user: null };
const NEW_SHARE = { ...NO_SHARE, slots: null, hours: null, time_zone: null, max_tokens: null };
const SHARE = { ...NEW_SHARE, user: 'Z'.repeat(26) };
const ONE_MODEL = { service: 'llm-0', model: 'm' };
const NEW_TOKEN = { name: null, expires_in_s: 60 };

/** Every command that names a thing, with its other arguments. */
const NAMING: readonly (readonly [MyName, keyof typeof bens, object])[] = [
  ['key.rename', 'key', { name: 'other' }],
  ['key.show', 'key', {}],
  ['key.limit', 'key', { models: null }],
  ['key.rotate', 'key', { overlap_s: 0 }],
  ['key.disable', 'key', {}],
  ['key.enable', 'key', {}],
  ['key.revoke', 'key', {}],
  ['token.revoke', 'token', {}],
  ['provider.show', 'provider', {}],
  ['provider.drain', 'provider', {}],
  ['provider.resume', 'provider', {}],
  ['provider.pause', 'provider', {}],
  ['provider.unpause', 'provider', {}],
  ['provider.rename', 'provider', { name: 'other' }],
  ['provider.remove', 'provider', {}],
  ['provider.models', 'provider', {}],
  ['provider.gpu-day', 'provider', {}],
  ['provider.model-load', 'provider', ONE_MODEL],
  ['provider.model-unload', 'provider', ONE_MODEL],
  ['provider.model-pull', 'provider', ONE_MODEL],
  ['provider.model-delete', 'provider', ONE_MODEL],
  ['pull.cancel', 'provider', { action: 'x' }],
  ['provider.share', 'provider', SHARE],
  ['provider.unshare', 'provider', { ...NO_SHARE, share: null, all: true }],
  ['network.show', 'network', {}],
  ['network.add', 'network', { member: 'Anna' }],
  ['network.remove', 'network', { member: 'Anna' }],
  ['network.rename', 'network', { name: 'other' }],
  ['network.delete', 'network', {}],
  ['network.leave', 'network', {}],
  ['network.uninvite', 'network', { member: 'Anna' }],
  ['network.accept', 'network', {}],
  ['network.decline', 'network', {}],
  ['user.uninvite', 'invite', {}],
  ['user.logout', 'session', {}],
  ['job.facts', 'job', {}],
];
/** Commands that cannot name another member's things, or that are tested below. */
const OTHERS: readonly MyName[] = [
  'home.show',
  'home.day',
  'home.checklist',
  'jobs.count',
  'jobs.cancel',
  'jobs.retry',
  'queue.groups',
  'key.list',
  'key.create',
  'token.list',
  'token.create',
  'device.find',
  'device.approve',
  'device.deny',
  'provider.list',
  'provider.block',
  'provider.unblock',
  'provider.blocks',
  'share.given',
  'share.received',
  'network.list',
  'network.create',
  'network.invitations',
  'user.invite',
  'user.invites',
  'user.rename',
  'user.excerpts',
  'user.sessions',
  'stats.show',
  'usage.series',
  'usage.recent',
  // Another's request: `console-own`.
  'usage.request',
  'model.list',
  // Whose: `api/unserved`, `store/contract-wanted`.
  'model.wanted',
  'alias.list',
  'alias.set',
  'alias.remove',
  'feed.show',
  'feed.create',
  'feed.revoke',
  'user.log-in-methods',
  'oidc.disconnect',
  // Another's passkey: `store/contract-log-ins`.
  'passkey.challenge',
  'passkey.add',
  'passkey.rename',
  'passkey.remove',
];

const send = (visitor: Visitor, name: MyName, args: object): Promise<Response> =>
  MY_COMMANDS[name].kind === 'read'
    ? ask(visitor, ['my', name], args)
    : act(visitor, ['my', name], args);

describe('what is another’s looks as if it were not there', () => {
  it('the table has every command', () => {
    const named = [...NAMING.map(([name]) => name), ...OTHERS];
    expect(named.toSorted()).toEqual(Object.keys(MY_COMMANDS).toSorted());
  });

  it.each(NAMING)('%s', async (name, field, rest) => {
    const theirs = await send(anna, name, { ...rest, [field]: bens[field] });
    const unknown = await send(anna, name, { ...rest, [field]: 'Z'.repeat(26) });
    await expectDocumented(new URL(theirs.url).pathname, methodOf(name), theirs);
    const [a, b] = [await failureOf(theirs), await failureOf(unknown)];
    expect(a).toMatchObject({ status: 404, code: 'not_found' });
    expect({ ...a, message: a.message.replace(bens[field], '…') }).toEqual({
      ...b,
      message: b.message.replace('Z'.repeat(26), '…'),
    });
  });

  it('nor can it be enrolled again, invited into or named as an audience', async () => {
    const replace = { ...NEW_TOKEN, replace: bens.provider };
    expect(await refusal(anna, 'token.create', replace)).toMatchObject({ status: 404 });
    const wanted = { email: 'emi@example.org', network: bens.network, expires_in_s: 60 };
    expect(await refusal(anna, 'user.invite', wanted)).toMatchObject({ status: 404 });
    await gateway.anna.enroll('annas-pc');
    const [own] = await readMy(anna, 'provider.list', {});
    const share = { ...NEW_SHARE, provider: own?.id ?? '' };
    for (const audience of [{ network: bens.network }, { user: gateway.ben.id }]) {
      const refused = await refusal(anna, 'provider.share', { ...share, ...audience });
      expect(refused).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect(await refusal(anna, 'provider.block', { member: gateway.ben.id })).toMatchObject({
      status: 404,
    });
  });

  it('and lists have one’s own alone', async () => {
    expect(await readMy(anna, 'key.list', {})).toMatchObject([{ owner: 'anna@example.org' }]);
    expect(await readMy(anna, 'token.list', {})).not.toContainEqual(
      expect.objectContaining({ id: bens.token }),
    );
    expect(await readMy(anna, 'network.list', {})).toEqual([]);
    expect(await readMy(anna, 'user.invites', {})).toEqual([]);
    const sessions = await readMy(anna, 'user.sessions', {});
    expect(sessions.map(({ current }) => current)).toEqual([true]);
    expect(await readMy(ben, 'provider.list', {})).toMatchObject([{ id: bens.provider }]);
  });

  it('an id wins over a name that was made to look like one', async () => {
    const [own] = await readMy(anna, 'provider.list', {});
    await my(anna, 'provider.rename', { provider: own?.id ?? '', name: bens.provider });
    expect(await my(ben, 'provider.drain', { provider: bens.provider })).toMatchObject({
      id: bens.provider,
      name: 'Ben/bens-pc',
      draining: true,
    });
    expect(await my(ben, 'provider.resume', { provider: bens.provider })).toMatchObject({
      draining: false,
    });
  });
});

function methodOf(name: MyName): string {
  return MY_COMMANDS[name].kind === 'read' ? 'GET' : 'POST';
}

describe('how a command is asked', () => {
  it('reads by GET and changes by POST; the other method is told which', async () => {
    const [read, change] = [
      await act(anna, ['my', 'key.list']),
      await ask(anna, ['my', 'key.create']),
    ];
    expect(await failureOf(read)).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(await failureOf(change)).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect([read, change].map(({ headers }) => headers.get('allow'))).toEqual(['GET', 'POST']);
  });

  it('the argument at fault is named, and its value is not repeated', async () => {
    const wrong = { name: 'a/b', scope: 'any', expires_in_s: null };
    const refused = await refusal(anna, 'key.create', wrong);
    expect(refused).toMatchObject({ status: 400, code: 'invalid_value', param: 'name' });
    expect(refused.message).not.toContain('a/b');
    const more = await refusal(anna, 'key.create', { ...wrong, name: 'x', user: 'Ben' });
    expect(more).toMatchObject({ status: 400, code: 'invalid_value' });
    const broken = await anna.fetch('/api/console/v1/my/key.list?args={');
    expect(await failureOf(broken)).toMatchObject({ code: 'invalid_json', param: 'args' });
  });

  it.each(['nothing', 'constructor', 'toString', 'user.create'])(
    '%s is none of mine',
    async (name) => {
      const response = await ask(anna, ['my', name]);
      await expectDocumented(new URL(response.url).pathname, 'GET', response);
      expect(await failureOf(response)).toMatchObject({ status: 404, code: 'unknown_url' });
    },
  );

  it('without a session, or from another site, nothing is done', async () => {
    const nobody = visitorWith(gateway, `gateway_session=${newSecret('gws')}`);
    for (const area of ['my', 'admin'] as const) {
      const response = await ask(nobody, [area, 'key.list']);
      expect(await failureOf(response)).toMatchObject({ status: 401, code: 'not_logged_in' });
    }
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' };
    const path = '/api/console/v1/my/key.revoke';
    const foreign = await ben.fetch(path, { method: 'POST', headers, body: '{}' });
    expect(await failureOf(foreign)).toMatchObject({ status: 403, code: 'foreign_origin' });
  });

  it('answers are as documented, and what is told once is not kept', async () => {
    const listed = await ask(anna, ['my', 'key.list']);
    await expectDocumented('/api/console/v1/my/key.list', 'GET', listed);
    const args = { name: 'documented', scope: 'own', expires_in_s: 3_600 };
    const created = await act(anna, ['my', 'key.create'], args);
    await expectDocumented('/api/console/v1/my/key.create', 'POST', created);
    expect(created.headers.get('cache-control')).toBe('no-store');
    const taken = await act(anna, ['my', 'key.create'], args);
    await expectDocumented('/api/console/v1/my/key.create', 'POST', taken);
    expect(await failureOf(taken)).toMatchObject({ status: 409, code: 'conflict', retry: 'false' });
  });
});
