import { expectedEnds } from '@inference-gateway/coordinator/core/jobs/expected-end';
import type {
  ModelLine,
  QueuedGroup,
  Runner,
} from '@inference-gateway/coordinator/core/jobs/expected-end';
import { expect, test } from 'vitest';

const runner = (callMs: number | null, failureShare = 0): Runner => ({ callMs, failureShare });

const group = (queued: number, firstKey: number, lastKey: number): QueuedGroup => {
  return { queued, firstKey, lastKey };
};

const TEN = group(10, 1, 10);

type Line = ModelLine<QueuedGroup>;

function line(change: Partial<Line>): Line {
  return { groups: [TEN], running: 0, others: [], ...change };
}

test.each<[string, Partial<Line>, readonly Runner[], readonly (number | null)[]]>([
  ['one card, its jobs one after the other', {}, [runner(1_000)], [10_000]],
  ['two cards take turns', {}, [runner(1_000), runner(1_000)], [5_000]],
  ['a card of half the speed adds half', {}, [runner(1_000), runner(2_000)], [10_000 / 1.5]],
  ['half of its calls fail: twice as long', {}, [runner(1_000, 0.5)], [20_000]],
  ['what runs comes first', { running: 3 }, [runner(1_000)], [13_000]],
  ['others have a turn for each of its jobs', { others: [4, 900] }, [runner(1_000)], [24_000]],
  ['a group that only runs', { groups: [group(0, 0, 0)], running: 2 }, [runner(500)], [1_000]],
  [
    'a group behind another one',
    { groups: [TEN, group(5, 11, 15)] },
    [runner(1_000)],
    [10_000, 15_000],
  ],
  [
    'groups between each other: as many as stand before its last',
    { groups: [group(10, 1, 19), group(10, 2, 20)] },
    [runner(1_000)],
    [19_000, 20_000],
  ],
  ['nothing measured', {}, [runner(null)], [null]],
  ['nobody takes it', {}, [], [null]],
  ['all calls fail', {}, [runner(1_000, 1)], [null]],
  ['one without a measure does not count', {}, [runner(null), runner(1_000)], [10_000]],
  ['a measure of nothing is none', {}, [runner(0)], [null]],
  ['no group', { groups: [] }, [runner(1_000)], []],
])('%s', (...row) => {
  const [, change, runners, expected] = row;
  const ends = expectedEnds(line(change), runners);
  expect(ends.map((ms) => ms && Math.round(ms))).toEqual(
    expected.map((ms) => ms && Math.round(ms)),
  );
});
