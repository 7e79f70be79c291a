import { hoursOf, facts, share, providerFact } from './sharing-facts.js';
import {
  resolveSharing,
  shareState,
  unshared,
} from '@inference-gateway/coordinator/core/access/sharing';
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import { describe, expect, test } from 'vitest';

/** The members whom the provider's first share reaches. */
function reached(told: Partial<SharingFacts>, providerId = 'den-pc'): string[] | 'closed' {
  const resolved = resolveSharing(facts(told)).get(providerId);
  if (resolved === undefined || resolved.closed) return 'closed';
  return EVERYBODY.filter((one) => resolved.shares[0]?.members.has(one));
}

const EVERYBODY = ['anna', 'ben', 'carl', 'dora'];
const FRIENDS = ['anna', 'ben', 'carl'].map((memberId) => ({ networkId: 'friends', memberId }));

describe('a share reaches', () => {
  test('the members of its network, and never the owner', () => {
    expect(reached({ memberships: FRIENDS, shares: [share()] })).toEqual(['ben', 'carl']);
  });

  test('the member that it names, whatever networks there are', () => {
    const shares = [share({ networkId: null, memberId: 'dora' })];
    expect(reached({ memberships: FRIENDS, shares })).toEqual(['dora']);
  });

  test('nobody where its network is empty, or its member the owner', () => {
    expect(reached({ shares: [share()] })).toEqual([]);
    expect(reached({ shares: [share({ networkId: null, memberId: 'anna' })] })).toEqual([]);
  });

  test('no member of another network', () => {
    const memberships = [...FRIENDS, { networkId: 'others', memberId: 'dora' }];
    expect(reached({ memberships, shares: [share({ networkId: 'others' })] })).toEqual(['dora']);
  });

  test('nobody whom its owner blocks, by network or by name', () => {
    const blocks = [{ ownerId: 'anna', memberId: 'ben' }];
    expect(reached({ memberships: FRIENDS, blocks, shares: [share()] })).toEqual(['carl']);
    const shares = [share({ networkId: null, memberId: 'ben' })];
    expect(reached({ blocks, shares })).toEqual([]);
  });

  test('those whom another owner blocks', () => {
    const blocks = [{ ownerId: 'carl', memberId: 'ben' }];
    expect(reached({ memberships: FRIENDS, blocks, shares: [share()] })).toEqual(['ben', 'carl']);
  });

  test('nobody who is disabled', () => {
    const told = { memberships: FRIENDS, disabledMembers: ['ben'], shares: [share()] };
    expect(reached(told)).toEqual(['carl']);
  });
});

describe('a provider', () => {
  test('without shares is private, and not closed', () => {
    expect(resolveSharing(facts({})).get('den-pc')).toEqual(unshared('anna', false));
  });

  test('that waits for approval is closed, whatever is shared', () => {
    const providers = [providerFact({ approved: false })];
    const resolved = resolveSharing(facts({ providers, memberships: FRIENDS, shares: [share()] }));
    expect(resolved.get('den-pc')).toEqual(unshared('anna', true));
  });

  test('of a disabled owner is closed', () => {
    expect(reached({ disabledMembers: ['anna'], memberships: FRIENDS, shares: [share()] })).toBe(
      'closed',
    );
  });

  test('has its own shares only, in the order in which they were made', () => {
    const providers = ['den-pc', 'attic-pc'].map((id) => providerFact({ id }));
    const shares = [
      share({ id: '1', model: 'm' }),
      share({ id: '2', providerId: 'attic-pc' }),
      share({ id: '3', serviceId: 'llm-1' }),
      share({ id: '4', providerId: 'unknown' }),
    ];
    const resolved = resolveSharing(facts({ providers, shares }));
    expect(resolved.get('den-pc')?.shares).toMatchObject([
      { id: '1', serviceId: null, model: 'm' },
      { id: '3', serviceId: 'llm-1', model: null },
    ]);
    expect(resolved.get('attic-pc')?.shares.map(({ id }) => id)).toEqual(['2']);
    expect(resolved.size).toBe(2);
  });
});

describe('the state of a share', () => {
  const caps = { slots: 2, hours: hoursOf('22:00-07:00'), maxTokens: 500 };
  const resolved = { id: '1', serviceId: null, model: 'm', members: new Set(['ben']), caps };
  const night = Date.parse('2026-06-01T23:00:00Z');
  const noon = Date.parse('2026-06-01T12:00:00Z');

  test('tells what is left of it now', () => {
    expect(shareState(resolved, 1, night)).toEqual({
      id: '1',
      serviceId: null,
      model: 'm',
      members: new Set(['ben']),
      isOpen: true,
      slotsLeft: 1,
      maxTokens: 500,
    });
    expect(shareState(resolved, 0, noon)).toMatchObject({ isOpen: false, slotsLeft: 2 });
  });

  test('has never less than no slots, as after a cap was lowered', () => {
    expect(shareState(resolved, 3, night).slotsLeft).toBe(0);
  });

  test('without caps is always open', () => {
    const none = { ...resolved, caps: { slots: null, hours: null, maxTokens: null } };
    const expected = { isOpen: true, slotsLeft: null, maxTokens: null };
    expect(shareState(none, 99, noon)).toMatchObject(expected);
  });
});
