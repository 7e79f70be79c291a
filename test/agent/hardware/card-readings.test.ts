import { cardReadings } from '@inference-gateway/agent/hardware/gpu-status';
import type { CardLoad, GpuSample } from '@inference-gateway/agent/hardware/gpu-sample';
import { MAX_CARDS } from '@inference-gateway/shared/protocol/messages';
import { expect, test } from 'vitest';

const LOAD: CardLoad = {
  usePercent: 37,
  memoryUsedMib: 9_000,
  temperatureC: 71,
  powerWatts: 210.25,
};
const TOLD = { use_percent: 37, memory_used_mib: 9_000, temperature_c: 71, power_watts: 210.25 };

function hostOf(cards: number) {
  const gpu = { name: 'RTX 4090', vendor: 'NVIDIA', vram_mib: 24_564, driver: null };
  return { os: 'linux', arch: 'x64', gpus: Array.from({ length: cards }, () => gpu) };
}

function sampleOf(...cards: CardLoad[]): GpuSample {
  const game = { pid: 1, name: 'game', usePercent: 90, memoryMib: 1 };
  return { at: 0, cards, processes: [game] };
}

test('each card is told, and nothing of what runs on it', () => {
  const idle = { ...LOAD, usePercent: 0 };
  const readings = cardReadings(hostOf(2), sampleOf(LOAD, idle));
  expect(readings).toEqual([TOLD, { ...TOLD, use_percent: 0 }]);
});

test.each([
  ['nothing was sampled', hostOf(1), null],
  ['the cards are not known yet', hostOf(0), sampleOf(LOAD)],
  ['there are more cards than loads', hostOf(2), sampleOf(LOAD)],
])('nothing is told where %s', (_, host, sample) => {
  expect(cardReadings(host, sample)).toBeNull();
});

test('what cannot be is not known, and no more cards are told than there may be', () => {
  const loads = Array.from({ length: MAX_CARDS + 1 }, () => ({ ...LOAD, usePercent: 400 }));
  const readings = cardReadings(hostOf(loads.length), sampleOf(...loads));
  expect(readings).toHaveLength(MAX_CARDS);
  expect(readings?.[0]).toEqual({ ...TOLD, use_percent: null });
});
