import { throughAlias } from '@inference-gateway/coordinator/core/access/access';
import {
  ALIAS_LIMITS,
  AliasIndex,
  aliasNameFault,
  chainFault,
} from '@inference-gateway/coordinator/core/access/aliases';
import type { Alias } from '@inference-gateway/coordinator/core/access/aliases';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const { nameCharacters, modelCharacters, models: most } = ALIAS_LIMITS;

describe('the name of an alias', () => {
  test.each(['auto', 'gpt-4o', 'claude-*', '*', 'org/Model:7b', 'a b', 'x'.repeat(nameCharacters)])(
    'may be %s',
    (name) => expect(aliasNameFault(name)).toBeNull(),
  );

  test.each([
    ['', '1 to 128 characters'],
    ['x'.repeat(nameCharacters + 1), '1 to 128 characters'],
    ['a*b', "'*' before its end"],
    ['**', "'*' before its end"],
    ['*a', "'*' before its end"],
    ['a,b', 'no comma'],
    [' a', 'no white space'],
    ['a ', 'no white space'],
    ['a\nb', 'no control character'],
    ['a\u200bb', 'no control character'],
  ])('is not %j', (name, why) => expect(aliasNameFault(name)).toContain(why));
});

describe('the chain of an alias', () => {
  test.each([
    [[], `1 to ${most} models, not 0`],
    [Array.from({ length: most + 1 }, (_, i) => `m${i}`), `not ${most + 1}`],
    [[''], 'has 1 to'],
    [['x'.repeat(modelCharacters + 1)], 'has 1 to'],
    [['gpt-*'], 'is a pattern'],
    [['a', 'fast'], 'is the alias itself'],
    [['a', 'b', 'a'], "'a' is named twice"],
  ])('is not %j', (models, why) => expect(chainFault('fast', models)).toContain(why));

  test('is else as written', () => expect(chainFault('fast', ['a', 'A', 'org/b:7'])).toBeNull());
});

function keyOf({ memberId, name }: Alias): string {
  return `${memberId} ${name}`;
}

function caller(models: string[] | null) {
  const rules = { models, day: { requests: 5 }, month: {} };
  return { memberId: 'anna', scope: 'any', rules } as const;
}

function alias(memberId: string | null, name: string): Alias {
  return { memberId, name, models: ['m'] };
}

describe('what a name means', () => {
  const index = new AliasIndex([
    alias(null, 'gpt-4'),
    alias(null, '*'),
    alias(null, 'gpt-*'),
    alias('anna', 'gpt-4*'),
    alias('anna', 'gpt-*'),
    alias('ben', 'gpt-4'),
  ]);
  const meant = (memberId: string, name: string) =>
    index.meant(memberId, name).map((one) => `${one.memberId ?? 'gateway'} ${one.name}`);

  test('a member’s own come first; of each owner names before the longest pattern', () => {
    expect(meant('anna', 'gpt-4')).toEqual([
      'anna gpt-4*',
      'anna gpt-*',
      'gateway gpt-4',
      'gateway gpt-*',
      'gateway *',
    ]);
    expect(meant('ben', 'gpt-4')).toEqual([
      'ben gpt-4',
      'gateway gpt-4',
      'gateway gpt-*',
      'gateway *',
    ]);
    expect(meant('cleo', 'GPT-4')).toEqual(['gateway *']);
  });

  test('the names that may be listed are those without a pattern', () => {
    expect(index.names('ben')).toEqual(['gpt-4']);
    expect(index.names('cleo')).toEqual(['gpt-4']);
  });

  test('is, for any aliases, what a search through all of them finds', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 });
    const names = fc
      .tuple(name, fc.boolean())
      .map(([text, isOpen]) => (isOpen ? `${text}*` : text));
    const owners = fc.constantFrom(null, 'anna', 'ben');
    const some = fc.uniqueArray(
      fc.tuple(owners, names).map((one) => alias(...one)),
      {
        selector: keyOf,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(some, name, (all, asked) => {
        const fits = (one: Alias) =>
          one.name === asked || (one.name.endsWith('*') && asked.startsWith(one.name.slice(0, -1)));
        const rank = (one: Alias) =>
          (one.memberId === null ? 1_000 : 0) + (one.name === asked ? 0 : 100 - one.name.length);
        const plainly = all
          .filter((one) => one.memberId !== 'ben' && fits(one))
          .toSorted((a, b) => rank(a) - rank(b));
        expect(new AliasIndex(all).meant('anna', asked).map(keyOf)).toEqual(plainly.map(keyOf));
      }),
    );
  });
});

describe('a key', () => {
  test('that names the alias is let through, with its other rules', () => {
    const through = throughAlias(caller(['gpt-*', 'x']), alias(null, 'gpt-*'));
    expect(through.rules).toEqual({ models: null, day: { requests: 5 }, month: {} });
  });

  test.each([[['gpt-4']], [['*']], [['x']]])('that names %j is not', (models) => {
    const asking = caller(models);
    expect(throughAlias(asking, alias(null, 'gpt-*'))).toBe(asking);
  });
});
