import { expect, test } from 'vitest';
import { report } from '../../bench/jobs/report.js';
import { TARGETS } from '../../bench/jobs/targets.js';
import { Samples } from '../../bench/samples.js';
import { judge } from '../../bench/targets.js';

type Metrics = Readonly<Record<string, number>>;

/** Every target is met, each by exactly its goal. */
const GATEWAY: Metrics = {
  'jobs.rps': 1_400,
  'sync.rps': 2_000,
  'file.rps': 1_000,
  'file.rss': 64,
  'submit1.rps': 300,
  'submit64.rps': 2_400,
  'batch.seconds': 1,
  'start.p50': 5,
  'start.p99': 30,
  queue: 4_000,
};
const PEER: Metrics = { queue: 4_000 };
const TABLE_METRICS = ['list', 'listDeep', 'listStatus', 'get'].flatMap((of) => [
  `store.${of}`,
  `api.${of}`,
]);

function table(ms: number): Metrics {
  return Object.fromEntries([...TABLE_METRICS, 'store.claim'].map((metric) => [metric, ms]));
}

function measured(changed: Readonly<Record<string, Metrics>> = {}): Samples {
  const samples = new Samples(['gateway', 'plainjob', 'plainjob-full', 'bullmq']);
  const subjects = {
    gateway: GATEWAY,
    plainjob: { queue: 5_000 },
    'plainjob-full': { queue: 1_333 },
    bullmq: PEER,
    few: table(1),
    many: table(2),
  };
  for (const [subject, metrics] of Object.entries(subjects)) {
    for (const [metric, value] of Object.entries({ ...metrics, ...changed[subject] })) {
      samples.add(subject, metric, value);
    }
  }
  return samples;
}

function missed(samples: Samples): string[] {
  return TARGETS.filter((target) => judge(target, samples).verdict !== 'met').map(
    ({ says }) => says,
  );
}

test('what reaches its goal exactly has met it', () => {
  expect(missed(measured())).toEqual([]);
});

test.each<[string, string, Metrics]>([
  ['jobs to PROCESSED', 'gateway', { 'jobs.rps': 1_399 }],
  ['lines of a file', 'gateway', { 'file.rps': 999 }],
  ['RSS growth', 'gateway', { 'file.rss': 64.1 }],
  ['submissions a second', 'gateway', { 'submit64.rps': 2_399 }],
  ['batch of 256', 'gateway', { 'batch.seconds': 1.01 }],
  ['against plainjob', 'plainjob', { queue: 5_001 }],
  ['against plainjob-full', 'plainjob-full', { queue: 1_334 }],
  ['against bullmq', 'bullmq', { queue: 4_001 }],
  ['idle slot, p50', 'gateway', { 'start.p50': 5.1 }],
  ['idle slot, p99', 'gateway', { 'start.p99': 30.1 }],
  ['list in', 'many', { 'store.listDeep': 2.1 }],
  ['list in', 'many', { 'api.list': 2.1 }],
  ['get in', 'many', { 'api.get': 2.1 }],
  ['claim in', 'many', { 'store.claim': 2.1 }],
])('the target on "%s" is missed by a little, alone', (says, subject, metrics) => {
  expect(missed(measured({ [subject]: metrics }))).toEqual([expect.stringContaining(says)]);
});

test('a peer that is not installed leaves its target open, and a dash in its row', () => {
  const samples = new Samples(['gateway', 'plainjob', 'plainjob-full', 'bullmq']);
  samples.add('gateway', 'queue', 4_000);
  samples.add('plainjob', 'queue', 2_000);
  const text = report(samples);
  expect(text).toMatch(/\n\| plainjob +\| .*NORMAL.* \| +2,000 \| +0\.50 \|/);
  expect(text).toMatch(/\n\| bullmq +\| .* \| +– \| +– \|/);
  expect(text).toMatch(/against plainjob +\| +≥ 0.8 × \| +2\.00 × \| +met \|/);
  expect(text).toMatch(/against bullmq +\| +≥ 1 × \| +– \| not measured \|/);
});

test('the report tells both sizes of the table by their rows, and how they compare', () => {
  const text = report(measured({ few: { rows: 1_000 }, many: { rows: 1_000_000 } }));
  expect(text).toMatch(/store, 1,000 jobs \| 1,000,000 jobs \| +× \| HTTP, 1,000 jobs/);
  expect(text).toMatch(
    /\n\| get +\| +1\.000 \| +2\.000 \| 2\.00 \| +1\.000 \| +2\.000 \| 2\.00 \|/,
  );
  // Nobody claims by HTTP.
  expect(text).toMatch(/\n\| claim of 50 .* 2\.00 \| +– \| +– \| +– \|/);
});

test('the report sets jobs against synchronous calls', () => {
  const text = report(measured());
  expect(text).toMatch(/\n\| jobs, to PROCESSED +\| +1,400 \| +0\.70 \|/);
  expect(text).toMatch(/\n\| batch of 256, to DONE +\| +1,000 \|/);
});
