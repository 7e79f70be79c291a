import { mapInTurns } from '@inference-gateway/coordinator/http/bodies/map-in-turns';
import { expect, test } from 'vitest';

/** Longer than one turn may take. */
const WORK_MS = 6;

function work(item: number): number {
  const end = performance.now() + WORK_MS;
  while (performance.now() < end);
  return item * 2;
}

test('others have their turns while a long list is worked on', async () => {
  const state = { turns: 0, isDone: false };
  const count = (): void => {
    state.turns += 1;
    if (!state.isDone) setImmediate(count);
  };
  setImmediate(count);
  const items = Array.from({ length: 20 }, (_, index) => index);
  const mapped = await mapInTurns(items, (item, index) => work(item) + index);
  state.isDone = true;
  expect(mapped).toEqual(items.map((item) => item * 3));
  expect(state.turns).toBeGreaterThanOrEqual(20);
});
