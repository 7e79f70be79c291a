import { withoutHiddenArguments } from '@inference-gateway/agent/openai-wire/request-body';
import { expect, test } from 'vitest';

const OPEN = '<sd_cpp_extra_args>';
const CLOSE = '</sd_cpp_extra_args>';

const strip = (prompt: string): unknown => withoutHiddenArguments({ prompt })['prompt'];

test.each([
  ['a cat', 'a cat'],
  ['a < b > c', 'a < b > c'],
  [`a${OPEN}{}${CLOSE}cat`, 'a cat'],
  [`${OPEN}{}${CLOSE}`, ''],
  [`a${OPEN}1${CLOSE}b${OPEN}2${CLOSE}c`, 'a b c'],
  [`a${OPEN}never closed`, 'a never closed'],
  [`a${OPEN}${OPEN}x${CLOSE}y${CLOSE}b`, 'a y b'],
])('%j becomes %j', (prompt, wanted) => {
  expect(strip(prompt)).toBe(wanted);
});

test('no prompt joins into another mark', () => {
  for (let cut = 1; cut < OPEN.length; cut++) {
    const inner = `${OPEN}x${CLOSE}`;
    const prompt = `${OPEN.slice(0, cut)}${inner}${OPEN.slice(cut)}{"width":1}${CLOSE}`;
    expect(strip(prompt)).not.toContain(OPEN);
  }
});

test('a hostile prompt costs no more than its length', () => {
  const startedAt = performance.now();
  strip(OPEN.repeat(200_000));
  strip(`${OPEN.repeat(100_000)}${CLOSE.repeat(100_000)}`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('the other fields stay as they are', () => {
  const body = { prompt: 7, negative_prompt: `no${OPEN}{}${CLOSE}`, other: `${OPEN}{}${CLOSE}` };
  expect(withoutHiddenArguments(body)).toEqual({ ...body, negative_prompt: 'no' });
});
