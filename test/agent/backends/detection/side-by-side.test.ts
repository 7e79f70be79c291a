import { sideBySide } from '@inference-gateway/agent/backends/detection/detect';
import { expect, test } from 'vitest';

test('so many run at once and no more, and the answers keep the order', async () => {
  const open: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const all = sideBySide([0, 1, 2, 3, 4], 2, async (item) => {
    most = Math.max(most, ++running);
    await new Promise<void>((done) => open.push(done));
    running--;
    return item * 10;
  });
  // The later of two ends first.
  while (open.length > 0) {
    open.pop()?.();
    await new Promise(setImmediate);
  }
  expect(await all).toEqual([0, 10, 20, 30, 40]);
  expect(most).toBe(2);
});

test('of nothing there is nothing, and one that fails fails the whole', async () => {
  expect(await sideBySide([], 3, () => Promise.resolve(1))).toEqual([]);
  const failing = sideBySide([1], 3, () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
});
