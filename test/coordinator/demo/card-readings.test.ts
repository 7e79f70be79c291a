import { cardReadings } from '@inference-gateway/coordinator/demo/link/demo-agent';
import { hostOf, MACHINES, servicesOf } from '@inference-gateway/coordinator/demo/machines';
import { Random } from '@inference-gateway/coordinator/demo/random';
import { cardReading } from '@inference-gateway/shared/protocol/messages';
import { expect, test } from 'vitest';

const NOTHING: ReadonlySet<string> = new Set();

test.each(MACHINES)('the cards of $name tell what such cards can, busy or not', (machine) => {
  const gpus = hostOf(machine).gpus;
  const all = new Set(servicesOf(machine).map(({ service_id: id }) => id));
  const idle = cardReadings(machine, NOTHING, new Random(1));
  const busy = cardReadings(machine, all, new Random(1));
  expect([idle.length, busy.length]).toEqual([gpus.length, gpus.length]);
  for (const [index, gpu] of gpus.entries()) {
    const [rest, work] = [cardReading.parse(idle[index]), cardReading.parse(busy[index])];
    expect(work.use_percent).toBeGreaterThan(rest.use_percent ?? 100);
    expect(work.memory_used_mib).toBeLessThan(gpu.vram_mib ?? Infinity);
    // Apple's cards report neither.
    expect(work.temperature_c === null).toBe(gpu.vendor === 'Apple');
    expect(work.power_watts === null).toBe(gpu.vendor === 'Apple');
  }
});

test('a card is busy with its own service alone', () => {
  const machine = MACHINES.find(({ gpus }) => gpus.length === 2) ?? expect.unreachable();
  const ofSecond = servicesOf(machine).find(({ slot_group: group }) => group === 'gpu1');
  const running = new Set([ofSecond?.service_id ?? '']);
  const [first, second] = cardReadings(machine, running, new Random(1));
  expect(first?.use_percent).toBeLessThan(10);
  expect(second?.use_percent).toBeGreaterThan(70);
});
