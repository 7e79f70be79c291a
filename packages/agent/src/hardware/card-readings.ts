/** What the cards do, as the coordinator is told it with each HEARTBEAT. */
import type { CardReading, AgentHost } from '@inference-gateway/shared/protocol/messages';
import { believableReading, MAX_CARDS } from '@inference-gateway/shared/protocol/messages';
import type { CardLoad, GpuSample } from './gpu-sample.js';

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
