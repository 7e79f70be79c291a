import { LiveObjects } from '@inference-gateway/shared/live-objects';
import { expect, test } from 'vitest';
import { promotedShare } from '../support/promotion.js';

test('each object is there until it is deleted', () => {
  const [one, two, three] = [{ n: 1 }, { n: 2 }, { n: 3 }];
  const live = new LiveObjects<{ n: number }>();
  for (const item of [one, two, three]) live.add(item);
  live.delete(one);
  live.delete(one);
  live.delete({ n: 2 });
  expect(live.size).toBe(2);
  expect(new Set(live.all())).toEqual(new Set([two, three]));
  // What ends others while all are told is no trouble.
  for (const item of live.all()) live.delete(item);
  expect(live.size).toBe(0);
});

test('nothing keeps an object that was deleted', () => {
  const live = new LiveObjects<{ payload: number[] }>();
  const share = promotedShare((payload) => {
    const item = { payload };
    live.add(item);
    return () => live.delete(item);
  });
  expect(share).toBeLessThan(0.3);
});
