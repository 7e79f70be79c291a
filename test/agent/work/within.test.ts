import { within } from '@inference-gateway/agent/work/within';
import { expect, test } from 'vitest';

const DAY_MS = 86_400_000;

test('tells whether it came to pass', async () => {
  expect(await within(DAY_MS, Promise.resolve())).toBe(true);
  expect(await within(1, new Promise(() => {}))).toBe(false);
});

test('a month is not over at once', async () => {
  const soon = new Promise((resolve) => setTimeout(resolve, 50));
  expect(await within(30 * DAY_MS, soon)).toBe(true);
});
