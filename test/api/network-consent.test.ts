/**
 * No member can put another into a network, because the other's calls would run on the machines
 * that the network shares.
 */
import { CAPS } from '@inference-gateway/coordinator/operations/operation';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { act, my, readMy, refusal } from './console-calls.js';
import { chat, failureOf, post } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
/** The server on Ben's machine; Ben wants to read other members' requests. */
let bens: FakeModelServer;
let anna: Visitor;
let ben: Visitor;
let network: string;

beforeAll(async () => {
  gateway = await openGateway();
  bens = await startFakeOpenAi();
  anna = await visit(gateway, 'anna@example.org');
  ben = await visit(gateway, 'ben@example.org');
  const services = [{ baseUrl: bens.baseUrl }];
  await gateway.startAgent({ services, name: 'bens-pc', owner: gateway.ben });
  network = (await my(ben, 'network.create', { name: 'friends' })).id;
  const [provider] = await readMy(ben, 'provider.list', {});
  const whole = { service: null, model: null, user: null };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  const what = { provider: provider?.id ?? '', network };
  await my(ben, 'provider.share', { ...what, ...whole, ...caps });
});

afterAll(async () => {
  await gateway.stop();
  await bens.close();
});

const invite = () => my(ben, 'network.add', { network, member: 'Anna' });
const toAnna = () => readMy(anna, 'network.invitations', {});
const invited = async () => (await readMy(ben, 'network.show', { network })).invited;

async function expectOutside(): Promise<void> {
  const before = bens.requests.length;
  expect((await anna.fetch('/v1/models/tiny')).status).toBe(404);
  expect(await failureOf(await post(anna, chat()))).toMatchObject({ status: 404 });
  expect(bens.requests.length).toBe(before);
  expect(await readMy(anna, 'network.list', {})).toEqual([]);
  expect(await refusal(anna, 'network.leave', { network })).toMatchObject({ status: 404 });
}

it('a call of a member who was added runs on no machine of the member who added them', async () => {
  const answer = await invite();
  expect(answer).toEqual({ id: network, name: 'friends', member: 'Anna' });
  await expectOutside();
  // A second invitation gives the same answer, so it reveals nothing.
  expect(await invite()).toEqual(answer);
  expect(await toAnna()).toMatchObject([{ id: network, name: 'friends', invited_by: 'Ben' }]);
  expect(await invited()).toMatchObject([{ id: gateway.anna.id, name: 'Anna' }]);
  const { attention } = await readMy(anna, 'home.show', {});
  const text = 'Ben invites you to the network friends.';
  expect(attention).toEqual([{ kind: 'network_invitation', text, href: '/network' }]);
});

it('a member who declines stays outside, and so does one who is no longer invited', async () => {
  await my(anna, 'network.decline', { network });
  expect([await toAnna(), await invited()]).toEqual([[], []]);
  await expectOutside();
  await invite();
  await my(ben, 'network.uninvite', { network, member: gateway.anna.id });
  expect(await toAnna()).toEqual([]);
  for (const name of ['network.accept', 'network.decline'] as const) {
    expect(await refusal(anna, name, { network })).toMatchObject({ status: 404 });
  }
  const again = { network, member: gateway.anna.id };
  expect(await refusal(ben, 'network.uninvite', again)).toMatchObject({ status: 404 });
  await expectOutside();
});

it('nobody accepts in place of another', async () => {
  await invite();
  expect(await refusal(ben, 'network.accept', { network })).toMatchObject({ status: 404 });
  await expectOutside();
});

it('a member who accepts is in it from the next call on', async () => {
  await my(anna, 'network.accept', { network });
  expect((await post(anna, chat())).status).toBe(200);
  expect(bens.requests.length).toBeGreaterThan(0);
  const { members, invited: open } = await readMy(anna, 'network.show', { network });
  expect(members).toMatchObject([{ name: 'Ben' }, { name: 'Anna' }]);
  expect(open).toEqual([]);
  const twice = await refusal(ben, 'network.add', { network, member: 'Anna' });
  expect(twice).toMatchObject({ status: 409, code: 'conflict' });
  expect((await act(anna, ['my', 'network.leave'], { network })).status).toBe(200);
  await expectOutside();
});

it('members do not see whom the owner has asked', async () => {
  await gateway.admin('network.add', { network, member: 'Anna' });
  const args = { email: 'cleo@example.org', name: 'Cleo', admin: false, password: null };
  await gateway.admin('user.create', args);
  await my(ben, 'network.add', { network, member: 'Cleo' });
  expect(await invited()).toMatchObject([{ name: 'Cleo' }]);
  expect((await readMy(anna, 'network.show', { network })).invited).toEqual([]);
});

it('an owner asks only so many at once', async () => {
  const { members, invited: open } = await readMy(ben, 'network.show', { network });
  expect([members.length, open.length]).toEqual([2, 1]);
  const most = CAPS['open invitations to a network'];
  const names = Array.from({ length: most }, (_, n) => `guest-${n}`);
  for (const name of names) {
    const args = { email: `${name}@example.org`, name, admin: false, password: null };
    await gateway.admin('user.create', args);
  }
  for (const member of names.slice(1)) await my(ben, 'network.add', { network, member });
  expect(await invited()).toHaveLength(most);
  const refused = await refusal(ben, 'network.add', { network, member: 'guest-0' });
  expect(refused).toMatchObject({ status: 409 });
  expect(refused.message).toContain(`You have ${most} open invitations to a network`);
  await my(ben, 'network.add', { network, member: 'guest-1' });
});
