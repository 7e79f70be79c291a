/** The topic of ASK about the last day of a machine and its graphics cards: what each end says. */
import * as z from 'zod';
import { cardReading } from './messages.js';

/** args `{}`: a reply `{card}` for each card, then the last one, `{day}`. */
export const GPUS_DAY = 'gpus.day';

export const DAY_LIMITS = {
  /** Of a step. */
  stepMs: 60_000,
  /** 24 hours; the last one is over. */
  steps: 1_440,
  /** Cards with a history of their own. */
  cards: 8,
} as const;

/** A value a minute, the oldest first; null: nothing was measured. */
function minutes(value: z.ZodNumber) {
  return z.array(value.nullable()).max(DAY_LIMITS.steps);
}

/** Within a minute. */
function measured(value: z.ZodNumber) {
  return z.object({ mean: minutes(value), max: minutes(value) });
}

const { use_percent, memory_used_mib, temperature_c, power_watts } = cardReading.shape;

export const dayCard = z.object({
  name: z.string().max(256).nullable(),
  memory_mib: z.number().min(0).max(16_777_216).nullable(),
  use_percent: measured(use_percent.unwrap()),
  memory_used_mib: measured(memory_used_mib.unwrap()),
  temperature_c: measured(temperature_c.unwrap()),
  power_watts: measured(power_watts.unwrap()),
});

/** Slots of all services. */
const slots = z.number().min(0).max(100_000);

export const dayOfMachine = z.object({
  /** Of the first minute: Unix ms by the agent's clock. All series have the same minutes. */
  first_at: z.int().min(0),
  /** Whether the agent watches the cards at all. */
  watches: z.boolean(),
  /** Slots in use by calls and jobs of the machine's owner, and by those of others. */
  own_slots: measured(slots),
  others_slots: measured(slots),
  /** Use of the cards by programs that are none of the model servers, in percent of a card. */
  programs_percent: measured(z.number().min(0).max(1_600)),
});

export const dayCardBody = z.object({ card: dayCard });

export const dayBody = z.object({ day: dayOfMachine });

export type DayCard = z.infer<typeof dayCard>;

export type DayOfMachine = z.infer<typeof dayOfMachine>;

export type Measured = DayCard['use_percent'];
