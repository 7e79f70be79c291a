import {
  lastReach,
  lastServedAt,
  NODE_LOST_MS,
} from '@inference-gateway/coordinator/core/routing/presence';
import type {
  ProviderLink,
  ServedModel,
} from '@inference-gateway/coordinator/core/routing/presence';
import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import { expect, test } from 'vitest';
import { advertisedModel } from '../../../support/candidate.js';

const NOW = 10_000_000;
const OPEN: ProviderLink = {
  nodeId: 'node',
  linkId: 'link',
  epoch: 1,
  linkedAt: 1_000,
  endedAt: null,
  nodeSeenAt: NOW - NODE_LOST_MS + 1,
};
const CALLER = { memberId: 'anna', scope: 'any' } as const;
const SHARED = { ownerId: 'anna', closed: false, shares: [] };

function served(changes: Partial<ServedModel> = {}): ServedModel {
  const model = advertisedModel();
  const of = { providerId: 'den', serviceId: 'llm-1', foreign: true, model };
  return { ...of, leftAt: null, link: OPEN, ...changes };
}

test.each<[string, Partial<ServedModel>, number | null]>([
  ['now, by a provider whose coordinator lives', {}, NOW],
  ['never, by a provider that was never linked', { link: null }, null],
  ['until its list left it out', { leftAt: 7 }, 7],
  ['until its link ended', { link: { ...OPEN, endedAt: 8 } }, 8],
  ['until its coordinator was last seen', { link: { ...OPEN, nodeSeenAt: 9 } }, 9],
])('a model was served %s', (_, changes, at) => {
  expect(lastServedAt(served(changes), NOW)).toBe(at);
});

const gone = (endedAt: number): Partial<ServedModel> => ({ link: { ...OPEN, endedAt } });

test('a call could have been served when the last of those was there that could', () => {
  const request = { caller: CALLER, needs: NO_NEEDS, sharedOf: () => SHARED };
  const reach = (...of: readonly ServedModel[]): number | null => lastReach(of, request, NOW);
  expect(reach()).toBeNull();
  expect(reach(served(gone(5)), served(gone(9)), served(gone(7)))).toBe(9);
  expect(reach(served(gone(5)), served())).toBe(NOW);
  expect(reach(served({ link: null }))).toBe(0);
});

test('one that its caller may not use, that cannot do it, or that is gone, does not count', () => {
  const base = { caller: CALLER, needs: NO_NEEDS, sharedOf: () => SHARED };
  const all = [served()];
  const foreign = { ...SHARED, ownerId: 'ben' };
  expect(lastReach(all, { ...base, sharedOf: () => foreign }, NOW)).toBeNull();
  expect(lastReach(all, { ...base, sharedOf: () => null }, NOW)).toBeNull();
  const needs = { ...NO_NEEDS, voices: ['nova'] };
  expect(lastReach(all, { ...base, needs }, NOW)).toBeNull();
});
