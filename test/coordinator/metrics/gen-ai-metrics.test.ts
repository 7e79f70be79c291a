import { KnownNames } from '@inference-gateway/coordinator/metrics/gen-ai-metrics';
import { expect, it } from 'vitest';

it('gives each name its own label up to the limit, and counts further ones together', () => {
  const names = new KnownNames(2);
  const labels = ['a', 'b', 'c', 'a', 'd', 'b'].map((name) => names.labelOf(name, true));
  expect(labels).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});

it('remembers no name without proof, so that made-up ones take no room', () => {
  const names = new KnownNames(1);
  expect(names.labelOf('made-up', false)).toBe('other');
  expect(names.labelOf('real', true)).toBe('real');
});

it('keeps the label of a name that is known already, with proof or without', () => {
  const names = new KnownNames(1);
  names.labelOf('real', true);
  expect(names.labelOf('real', false)).toBe('real');
});
