import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { my, readMy } from './console-calls.js';
import { visit } from './visitor.js';
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

  await my(anna, 'provider.block', { member: gateway.ben.id });
  expect(await readMy(ben, 'share.received', {})).toEqual([]);
  await my(anna, 'provider.unblock', { member: gateway.ben.id });
  await my(ben, 'network.leave', { network });
  expect(await readMy(ben, 'share.received', {})).toEqual([]);
});
