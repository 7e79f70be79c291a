/** What docs/security.md says stops an attack, and proves it, is there by that name. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allTables } from '../support/markdown-table.js';

const ROOT = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/security.md', ROOT), 'utf8');
const LEAST_ATTACKS = 100;

interface Attack {
  readonly attack: string;
  readonly stop: string;
  readonly outcome: string;
  readonly proof: string;
}

const attacks = allTables(text)
  .filter(([headings]) => headings?.[0] === 'Attack')
  .flatMap(([, ...rows]) => rows)
  .map(([attack = '', , stop = '', outcome = '', proof = '']): Attack => {
    return { attack, stop, outcome, proof };
  });

/** Of `coordinator/http/bodies/body.ts`, the document's short form; null if it is not there. */
function sourceOf(place: string): string | null {
  const [folder = '', ...rest] = place.split('/');
  const start = folder === 'web' ? 'packages/coordinator/web/src' : `packages/${folder}/src`;
  return read(`${start}/${rest.join('/')}`);
}

/** Of `api/edge`; the names of tests without the backslashes before their quotes. */
function testFileOf(name: string): string | null {
  const source = read(`test/${name}.test.ts`) ?? read(`test/${name}.ts`);
  return source?.replaceAll("\\'", "'") ?? null;
}

function read(path: string): string | null {
  const file = new URL(path, ROOT);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Whether a test or a group of tests is called so. */
function isNamed(source: string, name: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(String.raw`\(\s*['"\`]${escaped}['"\`]`).test(source);
}

/** `api/edge` “a test”, “another”; `api/web` “a third” */
function testsOf(proof: string): readonly (readonly [string, string])[] {
  return proof.split('; `').flatMap((part) => {
    const file = /^`?([^`]+)`/.exec(part)?.[1] ?? part;
    return [...part.matchAll(/“([^”]+)”/g)].map(([, name = '']) => [file, name] as const);
  });
}

test(`docs/security.md lists at least ${LEAST_ATTACKS} attacks, each once`, () => {
  expect(attacks.length).toBeGreaterThanOrEqual(LEAST_ATTACKS);
  const names = attacks.map(({ attack }) => attack);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

describe('each attack of docs/security.md', () => {
  test.each(attacks)('$attack', ({ stop, outcome, proof }) => {
    expect(outcome).toMatch(/^(held|limit|mended: `[\w/.-]+`)$/);
    expect(stop).not.toBe('');
    const tests = testsOf(proof);
    // A known limit may have no test; its row says what to do about it.
    if (outcome !== 'limit') expect(tests.length, proof).toBeGreaterThan(0);
    for (const [file, name] of tests) {
      const source = testFileOf(file);
      expect(source, `test/${file}.test.ts`).not.toBeNull();
      expect(isNamed(source ?? '', name), `${file} has the test “${name}”`).toBe(true);
    }
  });

  const PLACE = /`((?:agent|coordinator|shared|web)\/[\w/.-]+\.tsx?)(?::(\w+))?`/g;
  const places = [...text.matchAll(PLACE)].map(([, place = '', name = '']) => [place, name]);

  test('names files and functions that are in the sources', () => {
    expect(places.length).toBeGreaterThan(LEAST_ATTACKS);
    const missing = places.filter(([place = '', name = '']) => {
      return !new RegExp(String.raw`\b${name}\b`).test(sourceOf(place) ?? '');
    });
    expect(missing).toEqual([]);
  });
});
