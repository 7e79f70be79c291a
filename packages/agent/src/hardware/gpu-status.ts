/** A card as shown to its owner: its properties and its current readings. */
import type { CardReading, AgentHost } from '@inference-gateway/shared/protocol/messages';
import { believableReading, MAX_CARDS } from '@inference-gateway/shared/protocol/messages';
import type { CardLoad, GpuSample, Gpu } from './gpu-sample.js';

export interface GpuStatus extends CardLoad {
  readonly name: string | null;
  /** Its total memory. */
  readonly memoryMib: number | null;
}

const UNKNOWN: CardLoad = {
  usePercent: null,
  memoryUsedMib: null,
  temperatureC: null,
  powerWatts: null,
};

/**
 * Combines two sources only if both report the same number of cards. Without a sample, cards are
 * shown without readings.
 */
export function gpuStatus(
  known: readonly Pick<Gpu, 'name' | 'vram_mib'>[],
  sample: GpuSample | null,
): GpuStatus[] {
  const loads = sample?.cards ?? known.map(() => UNKNOWN);
  const isSame = loads.length === known.length;
  return loads.map((load, index) => {
    const card = isSame ? known[index] : undefined;
    return { ...load, name: card?.name ?? null, memoryMib: card?.vram_mib ?? null };
  });
}

// The readings of the cards, as sent to the coordinator with each HEARTBEAT.

/**
 * In the order of the cards in HELLO. Null without a sample, or if the two sources report different
 * numbers of cards: a load must not be shown for the wrong card.
 */
export function cardReadings(
  { gpus }: AgentHost,
  sample: GpuSample | null,
): readonly CardReading[] | null {
  if (sample === null || sample.cards.length !== gpus.length) return null;
  return sample.cards.slice(0, MAX_CARDS).map(readingOf);
}

/** Leaves out the processes on the cards, which are in the sample. */
export function readingOf({
  usePercent,
  memoryUsedMib,
  temperatureC,
  powerWatts,
}: CardLoad): CardReading {
  return believableReading({
    use_percent: usePercent,
    memory_used_mib: memoryUsedMib,
    temperature_c: temperatureC,
    power_watts: powerWatts,
  });
}
