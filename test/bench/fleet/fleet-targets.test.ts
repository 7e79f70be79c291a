import { expect, test } from 'vitest';
import { report } from '../../../bench/fleet/report.js';
import { TARGETS } from '../../../bench/fleet/targets.js';
import { Samples } from '../../../bench/samples.js';
import { judge } from '../../../bench/targets.js';

type Metrics = Readonly<Record<string, number>>;

/** Every target is met, each by exactly its goal. */
const MET: Metrics = {
  homes: 1_000,
  'rss.empty': 100,
  'rss.idle': 160,
  'models.owner.p99': 10,
  'models.guest.p99': 10,
  'drop.seconds': 60,
  'drop.gap.max': 250,
};

function measured(changed: Metrics = {}): Samples {
  const samples = new Samples(['gateway']);
  for (const [metric, value] of Object.entries({ ...MET, ...changed })) {
    samples.add('gateway', metric, value);
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

test.each<[string, Metrics]>([
  ['RSS that idle homes add', { 'rss.idle': 161 }],
  ["for the homes' owner", { 'models.owner.p99': 10.1 }],
  ['through one network', { 'models.guest.p99': 10.1 }],
  ['until the last is back', { 'drop.seconds': 60.1 }],
  ['the longest gap', { 'drop.gap.max': 251 }],
])('the target on "%s" is missed by a little, alone', (says, metrics) => {
  expect(missed(measured(metrics))).toEqual([expect.stringContaining(says)]);
});

test('the report tells what a home costs, and a dash for what was not measured', () => {
  const text = report(measured());
  expect(text).toMatch(/^fleet: 1,000 homes, /);
  expect(text).toMatch(/\n\| of that a home +\| +61\.4 KB \|/);
  expect(text).toMatch(/\n\| while all homes drop +\| +– \| +250\.0 \| +– \| +60\.00 \|/);
});
