import { PollPace } from '@inference-gateway/coordinator/http/agents/devices';
import { expect, test } from 'vitest';

test('who was told to wait may ask again after the interval, and not before', () => {
  const pace = new PollPace(5);
  expect(pace.isTooEarly('a', 0)).toBe(false);
  pace.note('a', 0);
  expect(pace.isTooEarly('a', 5_000)).toBe(false);
  expect(pace.isTooEarly('a', 9_950)).toBe(false);
  expect(pace.isTooEarly('a', 12_000)).toBe(true);
});

test('each time that it is too early makes the interval 5 s longer, for good', () => {
  const pace = new PollPace(5);
  pace.note('a', 0);
  expect(pace.isTooEarly('a', 1_000)).toBe(true);
  pace.note('a', 1_000);
  expect(pace.isTooEarly('a', 6_500)).toBe(true);
  expect(pace.isTooEarly('a', 21_500)).toBe(false);
  expect(pace.isTooEarly('a', 31_500)).toBe(true);
});

test('each has a pace of its own, and none once it waits no more', () => {
  const pace = new PollPace(5);
  pace.note('a', 0);
  expect(pace.isTooEarly('b', 1)).toBe(false);
  pace.forget('a');
  expect(pace.isTooEarly('a', 1)).toBe(false);
});

test('of more than a thousand, the one that was noted first is let go', () => {
  const pace = new PollPace(5);
  for (let i = 0; i <= 1_000; i++) pace.note(`device ${i}`, 0);
  expect(pace.isTooEarly('device 0', 1)).toBe(false);
  expect(pace.isTooEarly('device 1', 1)).toBe(true);
  expect(pace.isTooEarly('device 1000', 1)).toBe(true);
});
