import { didYouMean, nearest } from '@inference-gateway/shared/nearest';
import { expect, it } from 'vitest';

const MODELS = ['llama3:8b', 'qwen3:32b', 'org/Model:7b'];

it.each([
  ['a slip of the finger', 'lama3:8b', ['llama3:8b']],
  ['a part of the name', 'model', ['org/Model:7b']],
  ['more than the name', 'qwen3:32b-instruct', ['qwen3:32b']],
  ['nothing alike', 'whisper', []],
])('finds the model that is meant by %s', (_, wanted, found) => {
  expect(nearest(wanted, MODELS)).toEqual(found);
});

it('a name as long as a URL costs no more than a short one', () => {
  const many = Array.from({ length: 2_000 }, (_, i) => 'x'.repeat(240) + i);
  const startedAt = performance.now();
  expect(nearest('y'.repeat(16_000), many)).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(300);
});

it('asks whether one of the near ones was meant, where there is any', () => {
  expect(didYouMean('llama3:9b', MODELS)).toBe('did you mean llama3:8b?');
  expect(didYouMean('model', ['model-a', 'model-b'])).toBe('did you mean model-a or model-b?');
  expect(didYouMean('whisper', MODELS)).toBeNull();
});
