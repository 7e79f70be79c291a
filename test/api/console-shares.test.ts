import { MY_COMMANDS } from '@inference-gateway/coordinator/operations/my/commands';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { ask, my, readMy, refusal } from './console-calls.js';
import { visit, visitAgain } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
let anna: Visitor;
let ben: Visitor;
let provider: string;
let network: string;

beforeAll(async () => {
  gateway = await openGateway();
  anna = await visit(gateway, 'anna@example.org');
  ben = await visit(gateway, 'ben@example.org');
  await gateway.anna.enroll('den-pc');
  provider = (await readMy(anna, 'provider.list', {}))[0]?.id ?? '';
  network = (await my(anna, 'network.create', { name: 'friends' })).id;
  await my(anna, 'network.add', { network, member: 'Ben' });
  await my(ben, 'network.accept', { network });
});

afterAll(() => gateway.stop());

/** The number and models of a network's shares, as the network's pages show them to a member. */
async function sharedWith(visitor: Visitor) {
  const [listed] = await readMy(visitor, 'network.list', {});
  const { shares } = await readMy(visitor, 'network.show', { network });
  return { counted: listed?.shares, models: shares.map(({ model }) => model) };
}

const CAPS = { slots: 1, hours: null, time_zone: null, max_tokens: null };

it('what is shared is told to both sides, and to nobody who is blocked', async () => {
  const one = { provider, service: null, user: null, network, model: 'tiny', ...CAPS };
  await my(anna, 'provider.share', one);
  const told = {
    provider: 'Anna/den-pc',
    provider_id: provider,
    audience_id: network,
    model: 'tiny',
    slots: 1,
  };
  expect(await readMy(anna, 'share.given', {})).toMatchObject([told]);
  expect(await readMy(ben, 'share.given', {})).toEqual([]);
  expect(await readMy(ben, 'share.received', {})).toMatchObject([{ ...told, online: false }]);
  expect(await readMy(anna, 'share.received', {})).toEqual([]);

  expect(await sharedWith(ben)).toEqual({ counted: 1, models: ['tiny'] });

  await my(anna, 'provider.block', { member: gateway.ben.id });
  expect(await readMy(ben, 'share.received', {})).toEqual([]);
  expect(await sharedWith(ben)).toEqual({ counted: 0, models: [] });
  expect(await sharedWith(anna)).toEqual({ counted: 1, models: ['tiny'] });
  await my(anna, 'provider.unblock', { member: gateway.ben.id });
  await my(ben, 'network.leave', { network });
  expect(await readMy(ben, 'share.received', {})).toEqual([]);
});

it('what is asked of the console names no e-mail address of another member', async () => {
  const own = await openGateway();
  onTestFinished(() => own.stop());
  const [owner, friend] = [
    await visitAgain(own, 'anna@example.org'),
    await visitAgain(own, 'ben@example.org'),
  ];
  await own.anna.enroll('den-pc');
  await own.ben.enroll('bens-pc');
  const { id } = await my(owner, 'network.create', { name: 'friends' });
  await my(owner, 'network.add', { network: id, member: 'Ben' });
  const answers = [JSON.stringify(await readMy(friend, 'network.invitations', {}))];
  await my(friend, 'network.accept', { network: id });
  const [machine] = await readMy(owner, 'provider.list', {});
  const shared = { service: null, model: null, network: id, user: null, ...CAPS };
  await my(owner, 'provider.share', { ...shared, provider: machine?.id ?? '' });
  for (const [name, { kind }] of Object.entries(MY_COMMANDS)) {
    for (const args of [{}, { network: id }, { since_s: null, by: 'member', given: true }]) {
      const asked = kind === 'read' ? ask(friend, ['my', name], args) : null;
      answers.push((await (await asked)?.text()) ?? '');
    }
  }
  // The error for an unknown member does not help to guess e-mail addresses.
  for (const member of ['anna', 'anna@example.or', 'Ann']) {
    const { message } = await refusal(owner, 'network.add', { network: id, member });
    answers.push(message.replace(member, ''));
  }
  expect(answers.join('\n')).toContain('Anna');
  expect(answers.join('\n')).not.toContain('anna@example.org');
});
