import { decodeServices } from '@inference-gateway/shared/protocol/messages';
import { expect, test } from 'vitest';
import { CALM, drawHomes, popularModels, servicesOf } from '../../../bench/fleet/home-plan.js';
import { Random } from '../../../bench/fleet/random.js';

test('a seed gives the same homes again, and another seed others', () => {
  expect(drawHomes(CALM)).toEqual(drawHomes(CALM));
  expect(drawHomes({ ...CALM, seed: 2 })).not.toEqual(drawHomes(CALM));
});

test('a home is the same, however many others there are', () => {
  expect(drawHomes({ ...CALM, homes: 10 })).toEqual(drawHomes(CALM).slice(0, 10));
});

test('each home serves three models, of which some are found in many homes', () => {
  const homes = drawHomes(CALM);
  for (const { models } of homes) expect(new Set(models).size).toBe(3);
  const all = homes.flatMap(({ models }) => models);
  const servedBy = (model: string) => all.filter((one) => one === model).length;
  const [first = '', ...others] = popularModels(CALM);
  expect(servedBy(first)).toBeGreaterThan(200);
  for (const model of others) expect(servedBy(model)).toBeGreaterThan(10);
  const rare = [...new Set(all)].filter((model) => !popularModels(CALM).includes(model));
  expect(rare.length).toBeGreaterThan(500);
});

test('what a home serves is what the protocol takes', () => {
  for (const home of drawHomes({ ...CALM, homes: 20 })) {
    expect(decodeServices(servicesOf(home))).toEqual(servicesOf(home));
  }
});

test('so many homes are slow, fail or leave as the neighbourhood says', () => {
  const leaves = { everyMs: 1, awayMs: 1 };
  const shares = { slowShare: 0.1, failingHomes: 0.2, leavingHomes: 0.5, leaves };
  const homes = drawHomes({ ...CALM, ...shares });
  const share = (has: (home: (typeof homes)[number]) => boolean) => homes.filter(has).length / 1e3;
  expect(share(({ upBytesPerSecond }) => upBytesPerSecond !== null)).toBeCloseTo(0.1, 1);
  expect(share(({ card }) => card.failingShare > 0)).toBeCloseTo(0.2, 1);
  expect(share((home) => home.leaves === leaves)).toBeCloseTo(0.5, 1);
});

test('numbers are spread evenly, and neighbouring sources have nothing in common', () => {
  const numbers = Array.from({ length: 1_000 }, (_, i) => new Random(1, i).next());
  const tenths = new Map<number, number>();
  for (const number of numbers) {
    const tenth = Math.floor(number * 10);
    tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1);
  }
  expect(tenths.size).toBe(10);
  for (const count of tenths.values()) expect(Math.abs(count - 100)).toBeLessThan(50);
});

test('waits are as long on average as they are asked to be', () => {
  const random = new Random(1);
  const waits = Array.from({ length: 10_000 }, () => random.wait(50));
  expect(waits.reduce((sum, wait) => sum + wait, 0) / waits.length).toBeCloseTo(50, -1);
});
