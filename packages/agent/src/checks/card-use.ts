/** Whether somebody uses the card where no agent runs that would know. */
import type { GameModeSettings } from '../config.js';
import type { GpuSample } from '../hardware/gpu-sample.js';
import { watchGpus } from '../hardware/gpu-watch.js';

/** Cards are sampled about three times a second, and a driver needs a moment to begin. */
const SAMPLE_MS = 2_000;

/** Why a model had better not be asked now; null where the card is free, or tells nothing. */
export async function cardUse({ enabled, usePercent }: GameModeSettings): Promise<string | null> {
  if (!enabled) return null;
  const sample = await firstSample();
  const used = Math.max(0, ...(sample?.cards.map((card) => card.usePercent ?? 0) ?? []));
  return used > usePercent ? `the graphics card is in use (${used} %)` : null;
}

async function firstSample(): Promise<GpuSample | null> {
  const gpu = watchGpus();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<GpuSample | null>((resolve) => {
      gpu.onSample(resolve);
      timer = setTimeout(() => resolve(null), SAMPLE_MS);
    });
  } finally {
    clearTimeout(timer);
    gpu.close();
  }
}
