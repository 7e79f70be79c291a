import { grantOf, throughAlias } from '@inference-gateway/coordinator/core/access/access';
import { AliasIndex } from '@inference-gateway/coordinator/core/access/aliases';
import type { Alias } from '@inference-gateway/coordinator/core/access/aliases';
import type { Asking, Candidate } from '@inference-gateway/coordinator/core/routing/match';
import { everyModel, resolve } from '@inference-gateway/coordinator/core/routing/resolve';
import type { Naming } from '@inference-gateway/coordinator/core/routing/resolve';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advertisedModel, makeCandidate } from '../../../support/candidate.js';

const ANNA = { memberId: 'anna', scope: 'any' } as const;

/** A provider that has this model. */
function serving(model: string, change: Partial<Candidate> = {}): Candidate {
  return makeCandidate({ model: advertisedModel({ id: model }), ...change });
}

function namingOf(aliases: readonly Alias[], candidates: readonly Candidate[]) {
  let looks = 0;
  const naming: Naming = {
    aliases: new AliasIndex(aliases),
    candidates: (serviceType, model) => {
      looks += 1;
      return candidates.filter((one) => one.serviceType === serviceType && one.model.id === model);
    },
  };
  return { naming, looks: () => looks };
}

const gateways = (name: string, ...models: string[]): Alias => ({ memberId: null, name, models });
const annas = (name: string, ...models: string[]): Alias => ({ memberId: 'anna', name, models });

function resolved(
  aliases: readonly Alias[],
  candidates: readonly Candidate[],
  { model = 'fast', caller = ANNA }: { model?: string; caller?: Asking } = {},
) {
  const { naming } = namingOf(aliases, candidates);
  const { kind, models } = resolve(naming, { caller, serviceType: 'llm', model });
  return [kind, ...models];
}

interface Case {
  readonly aliases: readonly Alias[];
  readonly candidates: readonly Candidate[];
  readonly expected: readonly string[];
}

/** For a key that is restricted to these models, of an alias for two. */
function keyed(models: string[]) {
  const caller = { ...ANNA, rules: { models, day: {}, month: {} } };
  return resolved([gateways('fast', 'a', 'b')], [serving('a'), serving('b')], { caller });
}

describe('a name', () => {
  test('without an alias is looked up nowhere', () => {
    const { naming, looks } = namingOf([gateways('other', 'a')], [serving('a')]);
    const asked = { caller: ANNA, serviceType: 'llm', model: 'fast' } as const;
    expect(resolve(naming, asked)).toEqual({
      kind: 'plain',
      alias: null,
      models: ['fast'],
      caller: ANNA,
    });
    expect(looks()).toBe(0);
  });

  test.each<[string, Case]>([
    [
      'means a visible model first, even if it is offline',
      {
        aliases: [annas('fast', 'a')],
        candidates: [serving('fast', { online: false }), serving('a')],
        expected: ['model', 'fast'],
      },
    ],
    [
      'means an alias if the model is another member’s, or of another type',
      {
        aliases: [gateways('fast', 'a')],
        candidates: [
          serving('fast', { ownerId: 'ben' }),
          serving('fast', { serviceType: 'tts' }),
          serving('a'),
        ],
        expected: ['alias', 'a'],
      },
    ],
    [
      'leads to those that serve before those that do not, each in their order',
      {
        aliases: [gateways('fast', 'a', 'b', 'c', 'd')],
        candidates: [
          serving('a', { online: false }),
          serving('b'),
          serving('c', { draining: true }),
          serving('d', { freeSlots: 0 }),
        ],
        expected: ['alias', 'b', 'd', 'a', 'c'],
      },
    ],
    [
      'leaves out what the caller may not use, and what has another type',
      {
        aliases: [gateways('fast', 'a', 'b', 'c', 'd')],
        candidates: [
          serving('a', { ownerId: 'ben' }),
          serving('b', { serviceType: 'image' }),
          serving('d'),
        ],
        expected: ['alias', 'd'],
      },
    ],
    [
      'passes an own alias that leads nowhere, for one of the gateway',
      {
        aliases: [annas('fast', 'gone'), gateways('fa*', 'a')],
        candidates: [serving('a')],
        expected: ['alias', 'a'],
      },
    ],
    [
      'keeps an own alias that leads nowhere if there is no other',
      {
        aliases: [annas('fast', 'x', 'y'), gateways('fast', 'secret')],
        candidates: [serving('secret', { ownerId: 'ben' })],
        expected: ['unseen', 'x', 'y'],
      },
    ],
    [
      'means nothing if the gateway’s alias leads nowhere',
      {
        aliases: [gateways('fast', 'secret')],
        candidates: [serving('secret', { ownerId: 'ben' })],
        expected: ['plain', 'fast'],
      },
    ],
  ])('%s', (_, { aliases, candidates, expected }) => {
    expect(resolved(aliases, candidates)).toEqual(expected);
  });

  test('leads a restricted key to its models, or to the chain of an alias that it names', () => {
    expect(keyed(['b'])).toEqual(['alias', 'b']);
    expect(keyed(['fast'])).toEqual(['alias', 'a', 'b']);
    expect(keyed(['c'])).toEqual(['plain', 'fast']);
  });

  test('leads no further than the caller could go by the names of the models', () => {
    const model = fc.constantFrom('fast', 'a', 'b', 'c');
    const candidate = fc
      .record({
        id: model,
        ownerId: fc.constantFrom('anna', 'ben'),
        closed: fc.boolean(),
        online: fc.boolean(),
        serviceType: fc.constantFrom('llm' as const, 'tts' as const),
      })
      .map(({ id, ...facts }) => serving(id, facts));
    const alias = fc.record({
      memberId: fc.constantFrom(null, 'anna', 'ben'),
      name: fc.constantFrom('fast', 'fa*', '*'),
      models: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    });
    const listed = fc.option(fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'fast', 'fa*', '*')));
    fc.assert(
      fc.property(fc.array(candidate), fc.array(alias), listed, (candidates, aliases, models) => {
        const caller = { ...ANNA, rules: { models, day: {}, month: {} } };
        const { naming } = namingOf(aliases, candidates);
        const found = resolve(naming, { caller, serviceType: 'llm', model: 'fast' });
        if (found.kind !== 'alias' || found.alias === null) return;
        const admitted = throughAlias(caller, found.alias);
        const mayUse = (id: string) =>
          naming.candidates('llm', id).some((one) => {
            const { serviceId, foreign } = one;
            return grantOf(admitted, one, { serviceId, foreign, model: id }) !== null;
          });
        const isHis = (id: string) => found.alias?.models.includes(id) === true && mayUse(id);
        expect(found.models.every(isHis)).toBe(true);
        expect(found.alias.memberId).not.toBe('ben');
        const isLifted = admitted !== caller;
        expect(isLifted).toBe(models?.includes(found.alias.name) === true);
      }),
      { numRuns: 500 },
    );
  });
});

test('every model that a name may lead to is told, visible or not, each once', () => {
  const aliases = [annas('fast', 'a', 'b'), gateways('f*', 'b', 'c'), gateways('x', 'd')];
  const { naming } = namingOf(aliases, []);
  expect(everyModel(naming, { memberId: 'anna', model: 'fast' })).toEqual(['fast', 'a', 'b', 'c']);
});
