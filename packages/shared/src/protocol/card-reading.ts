/**
 * What a graphics card does, as HEARTBEAT tells it. It is of the card as a whole: which programs
 * use it stays on its machine.
 */
import * as z from 'zod';

/** Cards of one machine. */
export const MAX_CARDS = 16;

export const cardReading = z.object({
  use_percent: z.number().min(0).max(100).nullable(),
  /** By all programs. 16 TiB are more than any card has. */
  memory_used_mib: z.number().min(0).max(16_777_216).nullable(),
  temperature_c: z.number().min(-100).max(200).nullable(),
  power_watts: z.number().min(0).max(10_000).nullable(),
});

/** Null where it is not known, never a guess. */
export type CardReading = z.infer<typeof cardReading>;

/** A figure that no card has is null: what a driver makes up must not end a link. */
export function believableReading(reading: CardReading): CardReading {
  const { shape } = cardReading;
  return {
    use_percent: shape.use_percent.catch(null).parse(reading.use_percent),
    memory_used_mib: shape.memory_used_mib.catch(null).parse(reading.memory_used_mib),
    temperature_c: shape.temperature_c.catch(null).parse(reading.temperature_c),
    power_watts: shape.power_watts.catch(null).parse(reading.power_watts),
  };
}
