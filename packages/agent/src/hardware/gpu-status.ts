/** A card as its owner is shown it: what it is, and what it does now. */
import type { CardReading, AgentHost } from '@inference-gateway/shared/protocol/messages';
import { believableReading, MAX_CARDS } from '@inference-gateway/shared/protocol/messages';
import type { CardLoad, GpuSample, Gpu } from './gpu-sample.js';

export interface GpuStatus extends CardLoad {
  readonly name: string | null;
  /** What it has. */
  readonly memoryMib: number | null;
}

const UNKNOWN: CardLoad = {
  usePercent: null,
  memoryUsedMib: null,
  temperatureC: null,
  powerWatts: null,
};

/**
 * Two sources tell of the cards: they are taken together only where both know the same number of
 * them. While nothing was sampled, they are shown without what they do.
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

// What the cards do, as the coordinator is told it with each HEARTBEAT.

/**
 * In the order in which HELLO names the cards. Null where nothing was sampled, or where the two
 * sources know another number of cards: a load must not be given to a card that it is not of.
 */
export function cardReadings(
  { gpus }: AgentHost,
  sample: GpuSample | null,
): readonly CardReading[] | null {
  if (sample === null || sample.cards.length !== gpus.length) return null;
  return sample.cards.slice(0, MAX_CARDS).map(readingOf);
}

/** Of the processes on them, which the sample knows, nothing is told. */
function readingOf({ usePercent, memoryUsedMib, temperatureC, powerWatts }: CardLoad): CardReading {
  return believableReading({
    use_percent: usePercent,
    memory_used_mib: memoryUsedMib,
    temperature_c: temperatureC,
    power_watts: powerWatts,
  });
}
