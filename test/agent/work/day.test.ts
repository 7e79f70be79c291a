/** The last 24 hours of a machine: what is measured, kept, and told when its owner asks. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CardLoad } from '@inference-gateway/agent/hardware/gpu-sample';
import { DayFile, MAX_DAY_FILE_BYTES } from '@inference-gateway/agent/state/day-file';
import { MachineDay } from '@inference-gateway/agent/work/day';
import {
  DAY_LIMITS,
  dayBody,
  dayCardBody,
  GPUS_DAY,
} from '@inference-gateway/shared/protocol/gpu-asks';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { SOCKET_OPTIONS } from '@inference-gateway/shared/protocol/version';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MINUTE_MS = 60_000;
const NOON = Date.UTC(2026, 4, 31, 12);
const LOAD: CardLoad = {
  usePercent: 40,
  memoryUsedMib: 9_000,
  temperatureC: 60,
  powerWatts: 200,
};

class Stage {
  readonly day: MachineDay;
  readonly warnings: string[] = [];
  nowMs: number;
  #steadyMs = 0;

  constructor({ nowMs = NOON, stateDir = null as string | null, cards = 1 } = {}) {
    this.nowMs = nowMs;
    const card = { name: 'RTX 4090', vendor: 'NVIDIA', vram_mib: 24_564, driver: null };
    const gpus = Array.from({ length: cards }, () => card);
    this.day = new MachineDay({
      file: stateDir === null ? null : new DayFile(stateDir),
      host: () => ({ os: 'linux', arch: 'x64', gpus }),
      watches: true,
      clock: { now: () => this.nowMs, steady: () => this.#steadyMs },
      logger: { warn: (_: unknown, text: string) => this.warnings.push(text) } as unknown as Logger,
    });
    onTestFinished(() => this.day.close());
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.#steadyMs += ms;
  }

  sample(...loads: Partial<CardLoad>[]): void {
    const cards = loads.map((load) => ({ ...LOAD, ...load }));
    this.day.sampled({ at: 0, cards, processes: null });
  }

  /** A minute with these samples. */
  minute(...loads: Partial<CardLoad>[]): void {
    for (const load of loads) this.sample(load);
    this.pass(MINUTE_MS);
  }
}

test('each minute that is over has its mean and its highest value', () => {
  const stage = new Stage();
  stage.minute({ usePercent: 10 }, { usePercent: 31 }, { usePercent: null });
  stage.minute({ usePercent: 90, powerWatts: null });
  stage.sample({ usePercent: 1 });
  const { cards, day } = stage.day.view();
  expect(day).toMatchObject({ first_at: NOON, watches: true });
  expect(cards).toEqual([
    {
      name: 'RTX 4090',
      memory_mib: 24_564,
      use_percent: { mean: [21, 90], max: [31, 90] },
      memory_used_mib: { mean: [9_000, 9_000], max: [9_000, 9_000] },
      temperature_c: { mean: [60, 60], max: [60, 60] },
      power_watts: { mean: [200, null], max: [200, null] },
    },
  ]);
});

test('slots count by their time, of the owner and of others apart; other programs too', () => {
  const stage = new Stage();
  const ended = stage.day.took(true, 2);
  stage.pass(15_000);
  ended();
  const others = stage.day.took(false, 1);
  stage.day.saw([
    { pid: 1, name: 'game', usePercent: 60, memoryMib: 1 },
    { pid: 2, name: 'film', usePercent: 10, memoryMib: null },
  ]);
  stage.day.saw([]);
  stage.day.saw(null);
  stage.day.saw([{ pid: 3, name: null, usePercent: null, memoryMib: 1 }]);
  stage.pass(45_000);
  expect(stage.day.view().day.own_slots.mean).toEqual([0.5]);
  stage.pass(MINUTE_MS);
  others();
  const { own_slots, others_slots, programs_percent } = stage.day.view().day;
  expect(own_slots).toEqual({ mean: [0.5, 0], max: [2, 0] });
  expect(others_slots).toEqual({ mean: [0.75, 1], max: [1, 1] });
  expect(programs_percent).toEqual({ mean: [35, null], max: [70, null] });
});

test('it holds 1,440 minutes; those in which the machine slept are unknown', () => {
  const stage = new Stage();
  stage.minute({ usePercent: 7 });
  stage.pass(3 * MINUTE_MS);
  for (let minute = 4; minute < DAY_LIMITS.steps; minute += 1) stage.minute({ usePercent: 50 });
  const full = stage.day.view().cards[0]?.use_percent.mean ?? [];
  expect(full).toHaveLength(DAY_LIMITS.steps);
  expect(full.slice(0, 5)).toEqual([7, null, null, null, 50]);
  stage.minute({ usePercent: 80 });
  const next = stage.day.view().cards[0]?.use_percent.mean ?? [];
  // Unknown minutes at the beginning are left out.
  expect([next.length, next[0], next.at(-1)]).toEqual([DAY_LIMITS.steps - 3, 50, 80]);
  stage.pass(2 * DAY_LIMITS.steps * MINUTE_MS);
  expect(stage.day.view().cards).toEqual([]);
});

test('after the clock was set back, nothing is told of what lies ahead', () => {
  const stage = new Stage();
  for (const usePercent of [1, 2, 3, 4]) stage.minute({ usePercent });
  stage.nowMs -= 2 * MINUTE_MS;
  stage.minute({ usePercent: 9 });
  const { cards, day } = stage.day.view();
  expect(day.first_at).toBe(NOON);
  expect(cards[0]?.use_percent.mean).toEqual([1, 2, 9]);
});

test('a new process continues where the last one ended, with a gap between', async () => {
  const stateDir = await temporaryFolder();
  const first = new Stage({ stateDir });
  first.minute({ usePercent: 20 });
  first.minute({ usePercent: 30 });
  await first.day.close();
  const second = new Stage({ stateDir, nowMs: NOON + 4 * MINUTE_MS });
  await second.day.restore();
  second.minute({ usePercent: 60 });
  const { cards, day } = second.day.view();
  expect(day.first_at).toBe(NOON);
  expect(cards[0]?.use_percent.mean).toEqual([20, 30, null, null, 60]);
  const late = new Stage({ stateDir, nowMs: NOON + 2 * DAY_LIMITS.steps * MINUTE_MS });
  await late.day.restore();
  expect(late.day.view().cards).toEqual([]);
});

test.each([
  ['broken', '{"cards": [{'],
  ['of another form', '{"cards": [], "day": {"first_at": "noon"}}'],
  ['too long', `"${'x'.repeat(MAX_DAY_FILE_BYTES)}"`],
])('a file that is %s is set aside, and the day begins anew', async (_, text) => {
  const stateDir = await temporaryFolder();
  await writeFile(join(stateDir, 'day.json'), text);
  const stage = new Stage({ stateDir });
  await stage.day.restore();
  expect(stage.warnings).toEqual(['the last 24 hours cannot be read: they begin anew']);
  expect(await readFile(join(stateDir, 'day.json.broken'), 'utf8')).toBe(text);
  stage.minute({});
  await stage.day.close();
  expect((await new DayFile(stateDir).read())?.cards).toHaveLength(1);
});

test('eight cards with the longest numbers fit the file, and each reply a message', async () => {
  const stateDir = await temporaryFolder();
  const stage = new Stage({ stateDir, cards: DAY_LIMITS.cards });
  const longest = {
    usePercent: 100,
    memoryUsedMib: 16_777_215,
    temperatureC: -100,
    powerWatts: 10_000,
  };
  const ended = stage.day.took(false, 1);
  for (let minute = 0; minute < DAY_LIMITS.steps; minute += 1) {
    // One more card than is kept, and a value that cannot be.
    stage.sample(...Array.from({ length: DAY_LIMITS.cards + 1 }, () => longest));
    stage.sample({ usePercent: 400 });
    stage.pass(MINUTE_MS);
  }
  ended();
  await stage.day.close();
  const file = await readFile(join(stateDir, 'day.json'));
  expect(file.length).toBeLessThan(MAX_DAY_FILE_BYTES);
  const answer = stage.day.topics.get(GPUS_DAY)?.({ args: {}, by: 'Anna' });
  const parts: unknown[] = [];
  for (let next = await answer?.next(); next !== undefined; next = await answer?.next()) {
    parts.push(next.value);
    if (next.done === true) break;
  }
  expect(parts).toHaveLength(DAY_LIMITS.cards + 1);
  for (const part of parts) {
    expect(JSON.stringify(part).length).toBeLessThan(SOCKET_OPTIONS.maxPayload - 1_000);
  }
  const [card] = parts;
  expect(dayCardBody.parse(card).card.use_percent.max[0]).toBe(100);
  expect(dayBody.parse(parts.at(-1)).day.others_slots.mean[0]).toBe(1);
});
