import { EnergyMeter, toldJoules } from '@inference-gateway/agent/work/energy';
import type { EnergyUser } from '@inference-gateway/agent/work/energy';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

/** A meter with a clock, in seconds, and what the card took, computed by itself. */
class MeterStage {
  readonly meter = new EnergyMeter(() => this.#nowMs);
  readonly users = new Set<EnergyUser>();
  readonly ended: EnergyUser[] = [];
  /** What the card took while anything ran, as far as its samples are believed. */
  taken = 0;
  #nowMs = 0;
  #watts = 0;
  #believedMs = 0;

  run(slots = 1): EnergyUser {
    const user: EnergyUser = { slots, joules: null, isMeasured: true };
    this.users.add(user);
    this.meter.begin(user);
    return user;
  }

  end(user: EnergyUser): number | null {
    this.meter.end(user);
    this.users.delete(user);
    this.ended.push(user);
    return toldJoules(user);
  }

  sample(...watts: readonly (number | null)[]): void {
    this.meter.sampled({ at: 0, cards: watts.map(cardOf), processes: null });
    this.#watts = watts.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    this.#believedMs = 5_000;
  }

  pass(seconds: number): void {
    const ms = seconds * 1_000;
    const believedMs = Math.min(ms, this.#believedMs);
    if (this.users.size > 0) this.taken += (this.#watts * believedMs) / 1_000;
    this.#believedMs -= believedMs;
    this.#nowMs += ms;
  }
}

function cardOf(powerWatts: number | null) {
  return { usePercent: null, memoryUsedMib: null, temperatureC: null, powerWatts };
}

const ROWS: readonly [string, (stage: MeterStage) => number | null, number | null][] = [
  [
    'alone, what the card took',
    (stage) => {
      stage.sample(300);
      const run = stage.run();
      stage.pass(4);
      return stage.end(run);
    },
    1_200,
  ],
  [
    'between two samples, by the one before it',
    (stage) => {
      stage.sample(100);
      stage.pass(0.1);
      const run = stage.run();
      stage.pass(0.02);
      const told = stage.end(run);
      stage.sample(400);
      return told;
    },
    2,
  ],
  [
    'over several samples, each until the next one',
    (stage) => {
      stage.sample(100);
      const run = stage.run();
      stage.pass(1);
      stage.sample(400);
      stage.pass(1);
      return stage.end(run);
    },
    500,
  ],
  [
    'beside another one, half',
    (stage) => {
      stage.sample(200);
      const run = stage.run();
      stage.run();
      stage.pass(1);
      return stage.end(run);
    },
    100,
  ],
  [
    'beside one that takes three slots, a quarter',
    (stage) => {
      stage.sample(200);
      const run = stage.run();
      stage.run(3);
      stage.pass(1);
      return stage.end(run);
    },
    50,
  ],
  [
    'in two digits, as exact as sensors are',
    (stage) => {
      stage.sample(321.9);
      const run = stage.run();
      stage.pass(1);
      return stage.end(run);
    },
    320,
  ],
  ['in no time, nothing that is known', (stage) => (stage.sample(9), stage.end(stage.run())), null],
  [
    'that began before the first sample, nothing: its beginning is not known',
    (stage) => {
      const run = stage.run();
      stage.pass(1);
      stage.sample(100);
      stage.pass(1);
      return stage.end(run);
    },
    null,
  ],
  [
    'whose samples stopped for more than five seconds, nothing',
    (stage) => {
      stage.sample(100);
      const run = stage.run();
      stage.pass(6);
      stage.sample(100);
      stage.pass(1);
      return stage.end(run);
    },
    null,
  ],
  [
    'on a card that tells no power, nothing',
    (stage) => {
      stage.sample(null);
      const run = stage.run();
      stage.pass(1);
      return stage.end(run);
    },
    null,
  ],
  [
    'on one of two cards, nothing: which one is not known',
    (stage) => {
      stage.sample(300, 20);
      const run = stage.run();
      stage.pass(1);
      // Half of a sample of both.
      stage.sample(300);
      stage.pass(1);
      return stage.end(run);
    },
    null,
  ],
];

test.each(ROWS)('a run has %s', (_, told, joules) => {
  expect(told(new MeterStage())).toBe(joules);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('run'), slots: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('end'), which: fc.nat() }),
  fc.record({ kind: fc.constant('sample'), watts: fc.option(fc.integer({ max: 600, min: 1 })) }),
  fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 0, max: 9_000 }) }),
);

test('together, runs have never more than the card took, and all of it while they ran', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const stage = new MeterStage();
      for (const one of steps) {
        if ('slots' in one) stage.run(one.slots);
        else if ('watts' in one) stage.sample(one.watts);
        else if ('ms' in one) stage.pass(one.ms / 1_000);
        else {
          const user = [...stage.users][one.which % Math.max(1, stage.users.size)];
          if (user !== undefined) stage.end(user);
        }
      }
      stage.meter.reckon();
      const shares = [...stage.users, ...stage.ended].map(({ joules }) => joules ?? 0);
      const sum = shares.reduce((all, joules) => all + joules, 0);
      expect(shares.every((joules) => joules >= 0)).toBe(true);
      expect(sum).toBeCloseTo(stage.taken, 6);
    }),
  );
});
