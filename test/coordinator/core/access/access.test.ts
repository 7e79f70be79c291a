/** Specification 1.3: the models of own providers, and shared ones; written out case by case. */
import {
  grantOf,
  servedModels,
  visibleModels,
} from '@inference-gateway/coordinator/core/access/access';
import type { Asking, Serving } from '@inference-gateway/coordinator/core/access/access';
import {
  resolveSharing,
  shareState,
  unshared,
} from '@inference-gateway/coordinator/core/access/sharing';
import type { SharingFacts, ShareState } from '@inference-gateway/coordinator/core/access/sharing';
import { describe, expect, test } from 'vitest';
import { SERVICE } from '../../../store/store-rows.js';
import { facts, hoursOf, share, providerFact } from './sharing-facts.js';
import type { ShareFact } from './sharing-facts.js';

const NOON = Date.parse('2026-06-01T12:00:00Z');

/** Anna owns den-pc and is among her friends; she blocks Dora, and Emil is disabled. */
const PEOPLE: Partial<SharingFacts> = {
  disabledMembers: ['emil'],
  memberships: [
    { networkId: 'friends', memberId: 'anna' },
    { networkId: 'friends', memberId: 'ben' },
    { networkId: 'others', memberId: 'carl' },
    { networkId: 'friends', memberId: 'dora' },
    { networkId: 'friends', memberId: 'emil' },
  ],
  blocks: [{ ownerId: 'anna', memberId: 'dora' }],
};

const MEMBERS: Readonly<Record<string, string>> = {
  owner: 'anna',
  'in the network': 'ben',
  'in another one': 'carl',
  blocked: 'dora',
  disabled: 'emil',
  'named directly': 'fay',
  stranger: 'gus',
};

/**
 * What is shared, each with Anna's friends and with Fay by name. The request is for `m` of `llm-1`.
 */
const SHARED: readonly (Partial<ShareFact> | null)[] = [
  null,
  {},
  { serviceId: 'llm-1' },
  { model: 'm' },
  { model: 'other' },
  { serviceId: 'stt-1' },
];

interface Circumstances {
  readonly people?: Partial<SharingFacts>;
  readonly scope?: 'own' | 'any';
  readonly foreign?: boolean;
}

const CIRCUMSTANCES: Readonly<Record<string, Circumstances>> = {
  'at any time': {},
  'with scope own': { scope: 'own' },
  'where foreign is false': { foreign: false },
  'before approval': {
    people: { providers: [providerFact({ approved: false })] },
  },
  'with the owner disabled': { people: { disabledMembers: ['emil', 'anna'] } },
};

/**
 * Columns as in `SHARED`; `o`: it is their own, `s`: it is shared with them, `-`: they may not use
 * it.
 */
const EXPECTED: readonly (readonly [string, string, string])[] = [
  //                                             nothing, all, service, model, other model, service
  ['at any time', 'owner', /*                 */ 'o o o o o o'],
  ['at any time', 'in the network', /*        */ '- s s s - -'],
  ['at any time', 'in another one', /*        */ '- - - - - -'],
  ['at any time', 'blocked', /*               */ '- - - - - -'],
  ['at any time', 'disabled', /*              */ '- - - - - -'],
  ['at any time', 'named directly', /*        */ '- s s s - -'],
  ['at any time', 'stranger', /*              */ '- - - - - -'],
  ['with scope own', 'owner', /*              */ 'o o o o o o'],
  ['with scope own', 'in the network', /*     */ '- - - - - -'],
  ['with scope own', 'in another one', /*     */ '- - - - - -'],
  ['with scope own', 'blocked', /*            */ '- - - - - -'],
  ['with scope own', 'disabled', /*           */ '- - - - - -'],
  ['with scope own', 'named directly', /*     */ '- - - - - -'],
  ['with scope own', 'stranger', /*           */ '- - - - - -'],
  ['where foreign is false', 'owner', /*      */ 'o o o o o o'],
  ['where foreign is false', 'in the network', '- - - - - -'],
  ['where foreign is false', 'in another one', '- - - - - -'],
  ['where foreign is false', 'blocked', /*    */ '- - - - - -'],
  ['where foreign is false', 'disabled', /*   */ '- - - - - -'],
  ['where foreign is false', 'named directly', '- - - - - -'],
  ['where foreign is false', 'stranger', /*   */ '- - - - - -'],
  ['before approval', 'owner', /*             */ '- - - - - -'],
  ['before approval', 'in the network', /*    */ '- - - - - -'],
  ['before approval', 'in another one', /*    */ '- - - - - -'],
  ['before approval', 'blocked', /*           */ '- - - - - -'],
  ['before approval', 'disabled', /*          */ '- - - - - -'],
  ['before approval', 'named directly', /*    */ '- - - - - -'],
  ['before approval', 'stranger', /*          */ '- - - - - -'],
  ['with the owner disabled', 'owner', /*     */ '- - - - - -'],
  ['with the owner disabled', 'in the network', '- - - - - -'],
  ['with the owner disabled', 'in another one', '- - - - - -'],
  ['with the owner disabled', 'blocked', /*   */ '- - - - - -'],
  ['with the owner disabled', 'disabled', /*  */ '- - - - - -'],
  ['with the owner disabled', 'named directly', '- - - - - -'],
  ['with the owner disabled', 'stranger', /*  */ '- - - - - -'],
];

test.each(EXPECTED)('%s, %s: %s', (when, who, expected) => {
  const { people, scope = 'any', foreign = true } = CIRCUMSTANCES[when] ?? {};
  const asking = { memberId: MEMBERS[who] ?? '', scope };
  const answers = SHARED.map((subject) => {
    const shares =
      subject === null
        ? []
        : [
            share({ id: 'with friends', ...subject }),
            share({ id: 'with fay', ...subject, networkId: null, memberId: 'fay' }),
          ];
    const grant = grantOf(asking, denPc({ ...PEOPLE, ...people, shares }), {
      serviceId: 'llm-1',
      foreign,
      model: 'm',
    });
    if (grant === null) return '-';
    return grant.shareId === null ? 'o' : 's';
  });
  expect(answers.join(' ')).toBe(expected);
});

test('every member is asked about under every circumstance', () => {
  const rows = EXPECTED.map(([when, who]) => `${when}, ${who}`);
  const every = Object.keys(CIRCUMSTANCES).flatMap((when) =>
    Object.keys(MEMBERS).map((who) => `${when}, ${who}`),
  );
  expect(rows).toEqual(every);
});

function denPc(told: Partial<SharingFacts>) {
  const resolved = resolveSharing(facts(told)).get('den-pc') ?? unshared('anna', true);
  return { ...resolved, shares: resolved.shares.map((one) => shareState(one, 0, NOON)) };
}

describe('of several shares, a caller has the one that gives most now', () => {
  const asking = { memberId: 'ben', scope: 'any' } as const;
  const subject = { serviceId: 'llm-1', foreign: true, model: 'm' };

  test.each<[string, Partial<ShareState>, Partial<ShareState>]>([
    ['an open one before a closed one', { isOpen: true }, { isOpen: false }],
    ['a free slot before longer answers', { slotsLeft: 1, maxTokens: 5 }, { slotsLeft: 0 }],
    ['an open one without a slot before a closed one', { slotsLeft: 0 }, { isOpen: false }],
    ['longer answers before shorter ones', { maxTokens: 500 }, { maxTokens: 400 }],
    ['no limit before a limit', {}, { maxTokens: 1_000_000 }],
  ])('%s', (_, better, worse) => {
    const states = [state('better', better), state('worse', worse)];
    for (const shares of [states, states.toReversed()]) {
      const provider = { ownerId: 'anna', closed: false, shares };
      expect(grantOf(asking, provider, subject)?.shareId).toBe('better');
    }
  });

  test('and its caps are told, where it is closed as well', () => {
    const shares = [state('night', { isOpen: false, slotsLeft: 1, maxTokens: 400 })];
    expect(grantOf(asking, { ownerId: 'anna', closed: false, shares }, subject)).toEqual({
      shareId: 'night',
      isOpen: false,
      slotsLeft: 1,
      maxTokens: 400,
    });
  });
});

describe('what a provider serves', () => {
  const [model] = SERVICE.models;
  if (model === undefined) throw new Error('the service has no model');
  const services = [
    { ...SERVICE, service_id: 'llm-1', models: ['m', 'n'].map((id) => ({ ...model, id })) },
    { ...SERVICE, service_id: 'llm-2', models: [{ ...model, id: 'p' }], foreign: false },
  ];
  const anna: Asking = { memberId: 'anna', scope: 'any' };
  const ben: Asking = { memberId: 'ben', scope: 'any' };

  function provider(told: Partial<Serving> = {}, caps: Partial<ShareFact['caps']> = {}): Serving {
    const shares = [
      share({ model: 'm', caps: { slots: null, hours: null, maxTokens: null, ...caps } }),
      share({ serviceId: 'llm-2' }),
    ];
    const link = { accepts: 'all' } as const;
    return { ...denPc({ ...PEOPLE, shares }), link, draining: false, services, ...told };
  }

  test.each<[string, Serving, readonly [string, string]]>([
    // What it serves to Anna, its owner, and to Ben.
    ['online', provider(), ['m n p', 'm']],
    ['paused for others', provider({ link: { accepts: 'own' } }), ['m n p', '']],
    ['paused', provider({ link: { accepts: 'none' } }), ['', '']],
    ['draining', provider({ draining: true }), ['', '']],
    ['offline', provider({ link: null }), ['', '']],
    ['outside the hours', provider({}, { hours: hoursOf('22:00-07:00') }), ['m n p', '']],
    ['within the hours', provider({}, { hours: hoursOf('07:00-22:00') }), ['m n p', 'm']],
  ])('%s', (_, one, expected) => {
    expect([served(one, anna), served(one, ben)]).toEqual(expected);
    // Members who may use a model at some other time may know of it at any time.
    expect([visible(one, anna), visible(one, ben)]).toEqual(['m n p', 'm']);
  });

  test('a closed one serves nobody and is known to nobody', () => {
    const closed = provider({ closed: true });
    for (const asking of [anna, ben]) {
      expect(served(closed, asking) + visible(closed, asking)).toBe('');
    }
  });
});

function state(id: string, told: Partial<ShareState>): ShareState {
  const members = new Set(['ben']);
  const open = { isOpen: true, slotsLeft: null, maxTokens: null };
  return { id, serviceId: null, model: null, members, ...open, ...told };
}

function served(one: Serving, asking: Asking): string {
  return servedModels(one, asking)
    .map(({ model }) => model.id)
    .join(' ');
}

function visible(one: Serving, asking: Asking): string {
  return visibleModels(one, asking)
    .map(({ model }) => model.id)
    .join(' ');
}
