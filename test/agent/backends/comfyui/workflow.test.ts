import { fillGraph, placeholdersOf } from '@inference-gateway/agent/backends/comfyui/workflow';
import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';

function graphOf(value: unknown): Record<string, unknown> {
  return { '1': { class_type: 'Any', inputs: { value, link: ['2', 0], on: true } } };
}

test.each([
  ['{{prompt}}', [{ name: 'prompt', fallback: null }]],
  ['{{ steps : 20 }}', [{ name: 'steps', fallback: '20' }]],
  ['{{negative_prompt:}}', [{ name: 'negative_prompt', fallback: '' }]],
  [
    '{{a}} and {{b:c: d}}',
    [
      { name: 'a', fallback: null },
      { name: 'b', fallback: 'c: d' },
    ],
  ],
  [
    ['{{a}}', { deep: '{{b}}' }],
    [
      { name: 'a', fallback: null },
      { name: 'b', fallback: null },
    ],
  ],
  ['{prompt} {{}} {{two words}} {{a:{b}}}', []],
])('the places of %j', (value, places) => {
  expect(placeholdersOf(graphOf(value))).toEqual(places);
});

test('only inputs have places', () => {
  const node = { class_type: '{{prompt}}', inputs: {}, _meta: { title: '{{prompt}}' } };
  expect(placeholdersOf({ '{{prompt}}': node })).toEqual([]);
  expect(fillGraph({ '1': node }, () => 'LoadImage')).toEqual({ '1': node });
});

test.each([
  ['{{steps}}', 20],
  ['{{steps}} steps', '20 steps'],
  ['{{steps}}{{steps}}', '2020'],
  [
    ['{{steps}}', 'x', 1, null],
    [20, 'x', 1, null],
  ],
])('%j becomes %j', (value, filled) => {
  expect(fillGraph(graphOf(value), () => 20)).toEqual(graphOf(filled));
});

test('whatever a caller writes is that one text, and changes nothing else', () => {
  const pieces = constantFrom('{{', '}}', 'seed', 'prompt', '"', '\\', '$&', '],', ':', 'é');
  const texts = oneof(
    string(),
    array(pieces).map((some) => some.join('')),
  );
  assert(
    property(texts, (text) => {
      const filled = fillGraph(graphOf('a {{prompt}} b'), () => text);
      expect(filled).toEqual(graphOf(`a ${text} b`));
      expect(fillGraph(graphOf('{{prompt}}'), () => text)).toEqual(graphOf(text));
    }),
  );
});
