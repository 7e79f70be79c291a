import { nameReasoning } from '@inference-gateway/coordinator/http/inference/reasoning-field';
import { expect, test } from 'vitest';

const choice = { index: 0, message: { role: 'assistant', content: 'x', reasoning_content: 'why' } };

test('a result has its thinking under the name that was asked for', () => {
  const result = JSON.stringify({ id: 'chatcmpl-1', choices: [choice] });
  expect(nameReasoning(result, 'reasoning_content')).toBe(result);
  expect(JSON.parse(nameReasoning(result, 'reasoning'))).toEqual({
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x', reasoning: 'why' } }],
  });
});

test('a result of very many values stays as it is: an agent made it, and polling is free', () => {
  const choices = [choice, ...Array.from({ length: 6_000 }, () => ({}))];
  const result = JSON.stringify({ choices });
  expect(nameReasoning(result, 'reasoning')).toBe(result);
});
