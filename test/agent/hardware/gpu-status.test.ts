import type { GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { gpuStatus } from '@inference-gateway/agent/hardware/gpu-status';
import { expect, test } from 'vitest';

const CARD = { name: 'RTX 4090', vram_mib: 24_564 };
const LOAD = { usePercent: 37, memoryUsedMib: 9_000, temperatureC: 71, powerWatts: 210 };

function sampleOf(...cards: GpuSample['cards']): GpuSample {
  return { at: 0, cards, processes: null };
}

test('a card is told with what it is and what it does', () => {
  expect(gpuStatus([CARD], sampleOf(LOAD))).toEqual([
    { name: 'RTX 4090', memoryMib: 24_564, ...LOAD },
  ]);
});

test('before the first sample it is told without what it does', () => {
  const unknown = { usePercent: null, memoryUsedMib: null, temperatureC: null, powerWatts: null };
  expect(gpuStatus([CARD], null)).toEqual([{ name: 'RTX 4090', memoryMib: 24_564, ...unknown }]);
});

test('a load is not given to a card that it may not be of', () => {
  const loads = gpuStatus([CARD, CARD], sampleOf(LOAD));
  expect(loads).toEqual([{ name: null, memoryMib: null, ...LOAD }]);
});

test('a machine without a card has none', () => {
  expect(gpuStatus([], null)).toEqual([]);
});
