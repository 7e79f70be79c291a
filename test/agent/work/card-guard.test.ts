import type { GpuProcess, GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { CardGuard } from '@inference-gateway/agent/work/owner-control';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/until.js';

const SETTINGS = {
  enabled: true,
  running: 'yield',
  memoryMib: 512,
  usePercent: 20,
  ignore: [],
} as const;
const MINUTE_MS = 60_000;
const UNKNOWN = { memoryUsedMib: null, temperatureC: null, powerWatts: null };
const GAME: GpuProcess = { pid: 7, name: 'game', usePercent: 40, memoryMib: 3_000 };

interface Moment {
  readonly at?: number;
  /** Of the card, in percent. */
  readonly use?: number;
}

type Strangers = (all: readonly GpuProcess[] | null) => Promise<GpuProcess[] | null>;

/** A guard whose cards are the test's to move. */
function guarded(strangers: Strangers, idleSince: number | null = null) {
  const listeners = new Set<(sample: GpuSample) => void>();
  const onSample = (listener: (sample: GpuSample) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const told: (string | null)[] = [];
  const guard = new CardGuard({
    gpu: { latest: null, onSample, close: () => {} },
    settings: SETTINGS,
    strangers,
    idleSince: () => idleSince,
    changed: () => told.push(guard.intruder?.program ?? null),
  });
  onTestFinished(() => guard.close());
  const sample = ({ at = performance.now(), use }: Moment, ...processes: GpuProcess[]) => {
    const cards = use === undefined ? [] : [{ ...UNKNOWN, usePercent: use }];
    for (const listener of listeners) listener({ at, cards, processes });
  };
  return { guard, told, sample, listeners };
}

test('a change is told once', async () => {
  let asked = 0;
  const { guard, told, sample } = guarded((all) => {
    asked++;
    return Promise.resolve([...(all ?? [])]);
  });
  for (let round = 1; round <= 4; round++) {
    sample({}, GAME);
    await until(() => asked === round);
  }
  await until(() => told.length > 0);
  expect([told, guard.intruder]).toEqual([['game'], { program: 'game' }]);
});

test('a name that becomes known after the load is told, and so is the next program', async () => {
  const idleSince = performance.now() - MINUTE_MS;
  const { told, sample } = guarded((all) => Promise.resolve([...(all ?? [])]), idleSince);
  const next = { ...GAME, name: 'the next' };
  for (const processes of [[], [], [GAME], [GAME], [next], [next]]) {
    sample({ use: 99 }, ...processes);
    await setImmediate();
  }
  expect(told).toEqual([null, 'game', 'the next']);
});

test('one that comes after a while without samples is told, too', async () => {
  const { told, sample } = guarded((all) => Promise.resolve([...(all ?? [])]));
  const seeTwice = async (at: number): Promise<void> => {
    for (const ms of [0, 300]) {
      sample({ at: at + ms }, GAME);
      await setImmediate();
    }
  };
  const at = performance.now() - 2 * MINUTE_MS;
  await seeTwice(at);
  expect(told).toHaveLength(1);
  await seeTwice(at + 2 * MINUTE_MS);
  expect(told).toEqual([null, 'game']);
});

test('servers of the owner are no strangers', async () => {
  let asked = 0;
  const { guard, sample } = guarded(() => {
    asked++;
    return Promise.resolve([]);
  });
  for (let round = 1; round <= 3; round++) {
    sample({}, GAME);
    await until(() => asked === round);
  }
  expect(guard.intruder).toBeNull();
});

test('while one sample is looked into, the latest of the others waits', async () => {
  const waiting: (() => void)[] = [];
  const seen: (string | null | undefined)[] = [];
  const { sample } = guarded(async (all) => {
    seen.push(all?.[0]?.name);
    await new Promise<void>((go) => waiting.push(go));
    return [];
  });
  for (const name of ['first', 'second', 'third']) sample({}, { ...GAME, name });
  waiting[0]?.();
  await until(() => seen.length === 2);
  expect(seen).toEqual(['first', 'third']);
});

test('after its end it hears nothing', () => {
  const { guard, listeners } = guarded(() => Promise.resolve([]));
  guard.close();
  expect(listeners.size).toBe(0);
});
