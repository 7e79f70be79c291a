import { SlotCounts } from '@inference-gateway/coordinator/links/slot-counts';
import type { SlotUse } from '@inference-gateway/coordinator/links/slot-counts';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { describe, expect, test } from 'vitest';

function service(id: string, slots: number, slotGroup?: string): AdvertisedService {
  const group = slotGroup === undefined ? {} : { slot_group: slotGroup };
  return { service_id: id, service_type: 'llm', slots, models: [], ...group };
}

function useOf(serviceId: string, kind: 'sync' | 'job', shareId: string | null = null): SlotUse {
  return { serviceId, kind, shareId, slots: 1 };
}

/** Free slots of the first service while these are taken. */
function left(
  services: readonly AdvertisedService[],
  taken: readonly (readonly [string, 'sync' | 'job'])[],
): { readonly calls: number; readonly jobs: number } {
  const counts = new SlotCounts();
  const groupOf = (id: string): string | null =>
    services.find((one) => one.service_id === id)?.slot_group ?? null;
  for (const [id, kind] of taken) counts.take(useOf(id, kind), groupOf(id));
  const [first] = services;
  if (first === undefined) throw new Error('no service');
  const { freeSlots, freeJobSlots } = counts.left(first, services);
  return { calls: freeSlots, jobs: freeJobSlots };
}

describe('slots left', () => {
  const four = [service('a', 4)];
  const one = [service('a', 1)];

  test('of two or more, one is never a job’s', () => {
    expect(left(four, [])).toEqual({ calls: 4, jobs: 3 });
    const jobs = [1, 2, 3].map(() => ['a', 'job'] as const);
    expect(left(four, jobs)).toEqual({ calls: 1, jobs: 0 });
  });

  test('calls take nothing of what jobs may have before the slots are taken', () => {
    expect(left(four, [['a', 'sync']])).toEqual({ calls: 3, jobs: 3 });
    const calls = [1, 2, 3].map(() => ['a', 'sync'] as const);
    expect(left(four, calls)).toEqual({ calls: 1, jobs: 1 });
  });

  test('the only slot is for both', () => {
    expect(left(one, [])).toEqual({ calls: 1, jobs: 1 });
    expect(left(one, [['a', 'sync']])).toEqual({ calls: 0, jobs: 0 });
  });

  test('services of one group share the slots of the largest, and the one that is kept', () => {
    const group = [service('a', 2, 'gpu'), service('b', 3, 'gpu'), service('c', 9)];
    expect(left(group, [['b', 'job']])).toEqual({ calls: 2, jobs: 1 });
    expect(
      left(group, [
        ['b', 'job'],
        ['b', 'job'],
      ]),
    ).toEqual({ calls: 1, jobs: 0 });
    expect(left(group, [['c', 'job']])).toEqual({ calls: 2, jobs: 1 });
  });

  test('a service that has left the list still takes its part of the card', () => {
    const counts = new SlotCounts();
    counts.take(useOf('painter', 'sync'), 'gpu');
    const chat = service('chat', 1, 'gpu');
    expect(counts.left(chat, [chat])).toEqual({ freeSlots: 0, freeJobSlots: 0 });
    counts.free(useOf('painter', 'sync'));
    expect(counts.left(chat, [chat])).toEqual({ freeSlots: 1, freeJobSlots: 1 });
  });

  test('what is freed can be taken again, and never counts below zero', () => {
    const counts = new SlotCounts();
    counts.take(useOf('a', 'job'));
    counts.free(useOf('a', 'job'));
    counts.free(useOf('a', 'job'));
    expect(counts.left(service('a', 2), [service('a', 2)])).toEqual({
      freeSlots: 2,
      freeJobSlots: 1,
    });
    counts.take(useOf('a', 'sync'));
    counts.clear();
    expect(counts.busyByService.size).toBe(0);
  });
});

test('what a share lets in is counted by itself', () => {
  const counts = new SlotCounts();
  counts.take(useOf('a', 'sync', 'share'));
  counts.take(useOf('a', 'job', 'share'));
  counts.take(useOf('a', 'sync'));
  expect([...counts.busyByShare]).toEqual([['share', 2]]);
  counts.free(useOf('a', 'job', 'share'));
  expect([...counts.busyByShare]).toEqual([['share', 1]]);
});

test('nothing is kept of services and shares of which nothing is under way any more', () => {
  const counts = new SlotCounts();
  const use = useOf('a', 'job', 'share-1');
  counts.take(use);
  counts.take(use);
  counts.free(use);
  expect([...counts.busyByService, ...counts.busyByShare]).toEqual([
    ['a', 1],
    ['share-1', 1],
  ]);
  counts.free(use);
  expect([...counts.busyByService, ...counts.busyByShare]).toEqual([]);
});
