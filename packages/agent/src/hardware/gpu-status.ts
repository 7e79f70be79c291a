/** A card as its owner is shown it: what it is, and what it does now. */
import type { CardLoad, GpuSample } from './gpu-sample.js';
import type { Gpu } from './gpu.js';

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
