/** The matrix of shares: its rows, its columns, and the meaning of a tick. */
import { expect, test } from 'vitest';
import { matrixRows } from '../../../packages/coordinator/web/src/screens/sharing/matrix-rows.js';
import {
  audiencesOf,
  limitsText,
  shareFor,
  widerShare,
} from '../../../packages/coordinator/web/src/screens/sharing/shares.js';
import type {
  Audience,
  GivenShare,
  OwnProvider,
} from '../../../packages/coordinator/web/src/screens/sharing/shares.js';

const FRIENDS: Audience = { kind: 'network', id: 'n1', name: 'friends' };
const BEN: Audience = { kind: 'member', id: 'm1', name: 'Ben' };

function provider(services: Readonly<Record<string, readonly string[]>>): OwnProvider {
  const told = Object.entries(services).map(([service_id, ids]) => ({
    service_id,
    models: ids.map((id) => ({ id })),
  }));
  const models = [...new Set(Object.values(services).flat())];
  return { id: 'p1', name: 'den-pc', services: told, models } as unknown as OwnProvider;
}

function share(part: Partial<GivenShare> = {}): GivenShare {
  return {
    id: 's1',
    provider: 'Anna/den-pc',
    provider_id: 'p1',
    owner_id: 'm0',
    audience_id: 'n1',
    service_id: null,
    model: null,
    network: 'friends',
    member: null,
    slots: null,
    hours: null,
    max_tokens: null,
    day: null,
    month: null,
    used: null,
    created_at: 0,
    ...part,
  };
}

test('of one service everything is the same, and it has no row of its own', () => {
  const one = matrixRows([provider({ 'llm-0': ['a', 'b'] })], [], false);
  expect(one.rows.map(({ what }) => what)).toEqual(['everything', 'a', 'b']);
  const two = matrixRows([provider({ 'llm-0': ['a'], 'llm-1': ['a', 'b'] })], [], false);
  expect(two.rows.map(({ what }) => what)).toEqual(['everything', 'llm-0', 'llm-1', 'a', 'b']);
});

test('what is shared has its row, wherever it stands and whether it is served or not', () => {
  const ids = Array.from({ length: 500 }, (_, i) => `m${i}`);
  const shares = [share({ model: 'm400' }), share({ model: 'gone' }), share({ service_id: 'old' })];
  const { rows, hidden } = matrixRows([provider({ 'llm-0': ids })], shares, false);
  expect(rows.map(({ what }) => what).slice(-2)).toEqual(['m400', 'gone']);
  expect(rows.filter(({ isServed }) => !isServed).map(({ what }) => what)).toEqual(['old', 'gone']);
  expect(rows.length + hidden).toBe(1 + 1 + 501);
  const elsewhere = [share({ model: 'm400', provider_id: 'p2' })];
  expect(matrixRows([provider({ 'llm-0': ids })], elsewhere, false).rows).toHaveLength(1 + 8);
  expect(matrixRows([provider({ 'llm-0': ids })], [], true)).toMatchObject({ hidden: 0 });
});

test('columns: the networks, one that was left and is shared with, and people', () => {
  const left = share({ audience_id: 'n2', network: 'old friends' });
  const named = share({ audience_id: 'm1', network: null, member: 'Ben' });
  const networks = [{ id: 'n1', name: 'friends' }];
  expect(audiencesOf(networks, [share(), left, named], [BEN])).toEqual([
    FRIENDS,
    { kind: 'network', id: 'n2', name: 'old friends' },
    BEN,
  ]);
});

function row(service: string | null, model: string | null) {
  const two = provider({ 'llm-0': ['a'], 'image-0': ['b'] });
  return { provider: two, subject: { service, model } };
}

test('a tick is the share of exactly that, or of what it is a part of', () => {
  const service = [share({ service_id: 'llm-0' })];
  expect(shareFor(service, { service: 'llm-0', model: null }, FRIENDS)).toBe(service[0]);
  expect(shareFor(service, { service: 'llm-0', model: null }, BEN)).toBeUndefined();
  expect(widerShare(row(null, 'a'), service, FRIENDS)).toBe('llm-0');
  expect(widerShare(row(null, 'b'), service, FRIENDS)).toBeNull();
  expect(widerShare(row('llm-0', null), [share()], FRIENDS)).toBe('everything');
  expect(widerShare(row(null, null), [share()], FRIENDS)).toBeNull();
});

test('limits are read in one line', () => {
  expect(limitsText(share())).toBe('');
  const limits = { slots: 1, hours: '22:00-07:00 Europe/Berlin', max_tokens: 512 };
  expect(limitsText(limits)).toBe('1 slot · 22:00-07:00 Europe/Berlin · 512 tokens');
  expect(limitsText({ slots: 2, hours: null, max_tokens: 1 })).toBe('2 slots · 1 token');
  const nothing = { requests: 0, tokens: 0, images: 0, audio_s: 0, until: 1 };
  const used = { day: { ...nothing, requests: 1_200 }, month: nothing };
  const limited = share({ day: 'requests=5000', month: 'images=20', used });
  const text = '1,200 of 5,000 requests a day, 0 of 20 images a month';
  expect(limitsText(limited)).toBe(text);
  expect(limitsText({ ...limited, used: null })).toBe('5,000 requests a day, 20 images a month');
});
