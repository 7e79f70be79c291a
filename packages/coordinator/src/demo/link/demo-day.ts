/** Invented last 24 hours of a demo machine, the same for each minute whenever it is asked. */
import { DAY_LIMITS } from '@inference-gateway/shared/protocol/gpu-asks';
import type { DayCard, DayOfMachine, Measured } from '@inference-gateway/shared/protocol/gpu-asks';
import { isOffAt, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { Random, seedOf } from '../random.js';

const { stepMs: STEP_MS, steps: STEPS } = DAY_LIMITS;

/** Whether somebody calls is drawn once for so many minutes. */
const VISIT_MINUTES = 12;

interface Minute {
  readonly own: number;
  readonly others: number;
  readonly random: Random;
}

/** As a real agent answers: a part for each card, then the whole machine's. */
export function demoDay(
  machine: Machine,
  now: number,
): [...{ card: DayCard }[], { day: DayOfMachine }] {
  const first = Math.floor(now / STEP_MS) - STEPS;
  const minutes = Array.from({ length: STEPS }, (_, index) => minuteOf(machine, first + index));
  const cards = machine.gpus.map((gpu) => ({ card: cardOf(gpu, minutes) }));
  const series = (valueOf: (minute: Minute) => number | null, peak = 1): Measured =>
    measured(minutes, (minute) => pairOf(valueOf(minute), peak));
  const day = {
    first_at: first * STEP_MS,
    watches: true,
    own_slots: series(({ own }) => own),
    others_slots: series(({ others }) => others),
    programs_percent: series(({ random }) => programsPercent(machine, random), 1.3),
  };
  return [...cards, { day }];
}

/** Null while the machine is off. */
function minuteOf(machine: Machine, minute: number): Minute | null {
  if (isOffAt(machine, minute * STEP_MS)) return null;
  const visit = new Random(seedOf(`${machine.name} ${Math.floor(minute / VISIT_MINUTES)}`));
  const hour = new Date(minute * STEP_MS).getUTCHours();
  const isBusyHour = hour >= 8 && hour < 23;
  const slots = servicesOf(machine).reduce((sum, service) => sum + service.slots, 0);
  const most = (share: number): number =>
    visit.chance(isBusyHour ? share : share / 5) ? visit.between(0.2, slots / 2) : 0;
  const [own, others] = [most(0.2), machine.state === 'paused' ? 0 : most(0.45)];
  const random = new Random(seedOf(`${machine.name} ${minute}`));
  const now = (slotsUsed: number): number => round(slotsUsed * random.between(0.6, 1), 100);
  return { own: now(own), others: now(others), random };
}

function cardOf(gpu: Machine['gpus'][number], minutes: readonly (Minute | null)[]): DayCard {
  const memory = gpu.vramGib === null ? null : gpu.vramGib * MIB_A_GIB;
  const load = ({ own, others, random }: Minute): number =>
    own + others === 0 ? random.between(0, 3) : random.between(55, 96);
  const series = (
    [idle, busy]: readonly [number, number],
    peak: number,
    isKnown = true,
  ): Measured =>
    measured(minutes, (minute) => {
      const value = idle + ((busy - idle) * load(minute)) / 100;
      return pairOf(isKnown ? Math.round(value) : null, peak);
    });
  const taken = memory ?? SHARED_GIB * MIB_A_GIB;
  // Apple's driver does not report more.
  const isKnown = memory !== null;
  return {
    name: gpu.name,
    memory_mib: memory,
    use_percent: series([0, 97], 1.03),
    memory_used_mib: series([taken * 0.68, taken * 0.76], 1.01),
    temperature_c: series([36, 71], 1.03, isKnown),
    power_watts: series([19, 285], 1.08, isKnown),
  };
}

/** Only Linux tells which programs use a card. */
function programsPercent({ os }: Machine, random: Random): number | null {
  return os === 'linux' ? Math.round(random.between(0, 4)) : null;
}

type Pair = readonly [mean: number | null, max: number | null];

function pairOf(mean: number | null, peak: number): Pair {
  return [mean, mean === null ? null : round(mean * peak, mean > 10 ? 1 : 100)];
}

function measured(minutes: readonly (Minute | null)[], pair: (minute: Minute) => Pair): Measured {
  const pairs = minutes.map((minute): Pair => (minute === null ? [null, null] : pair(minute)));
  return { mean: pairs.map(([mean]) => mean), max: pairs.map(([, max]) => max) };
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}

const MIB_A_GIB = 1_024;
const SHARED_GIB = 14;
