import { Offers } from '@inference-gateway/coordinator/nodes/offers';
import type { Registry } from '@inference-gateway/coordinator/links/registry';
import type { StandIn } from '@inference-gateway/coordinator/core/routing/links';
import { NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type { NodeMessage } from '@inference-gateway/shared/protocol/node-messages';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeCandidate } from '../../support/candidate.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One machine with this many free slots; `next` lets those that wait try for them, in order. */
function openOffers(free: number) {
  const state = { free, takesCalls: true };
  const waiting = new Set<StandIn>();
  const standIn = (call: StandIn): (() => void) => {
    waiting.add(call);
    return () => waiting.delete(call);
  };
  const hold = (): (() => void) | null => {
    if (state.free === 0) return null;
    state.free -= 1;
    let isHeld = true;
    return () => {
      if (isHeld) state.free += 1;
      isHeld = false;
    };
  };
  const registry = { hold } as unknown as Registry;
  const sent: number[] = [];
  const parts = { registry, relay: { standIn }, takesCalls: () => state.takesCalls };
  const offers = new Offers(parts, ({ want }) => sent.push(want));
  const choice = {
    ...makeCandidate(),
    callerId: 'anna',
    grant: { shareId: null, maxTokens: null },
  };
  const next = (): void => {
    for (const call of waiting) if (call.take(choice as never)) waiting.delete(call);
  };
  return { state, waiting, sent, offers, next };
}

const want = (number: number): NodeMessage<'WANT'> => ({
  t: 'WANT',
  want: number,
  member_id: 'anna',
  scope: 'any',
  service_type: 'llm',
  model: 'm',
  needs: { features: [], voices: [], inputs: [] },
  excluded: [],
});

test('a slot is held until its call comes, and is then free for it alone', () => {
  const { state, sent, offers, next } = openOffers(1);
  for (const number of [1, 2]) offers.wanted(want(number));
  next();
  expect(sent).toEqual([1]);
  expect(state.free).toBe(0);
  const free = offers.taken(1);
  expect(state.free).toBe(0);
  free?.();
  free?.();
  expect(state.free).toBe(1);
  next();
  expect(sent).toEqual([1, 2]);
});

test('a call that comes before its turn has no slot, and waits no more', () => {
  const { waiting, offers } = openOffers(1);
  offers.wanted(want(1));
  expect(offers.taken(1)).toBeNull();
  expect(waiting.size).toBe(0);
});

test('a slot is freed if its call has gone, does not come, or the link ends', () => {
  const { state, waiting, offers, next } = openOffers(3);
  for (const number of [1, 2, 3, 4]) offers.wanted(want(number));
  next();
  expect(state.free).toBe(0);
  offers.unwanted(1);
  expect(state.free).toBe(1);
  vi.advanceTimersByTime(NODE_LINK.offerMs);
  expect(state.free).toBe(3);
  offers.wanted(want(5));
  next();
  offers.close();
  expect(state.free).toBe(3);
  expect(waiting.size).toBe(0);
});

test('a coordinator that stops offers none, and so many wait at most', () => {
  const { state, waiting, sent, offers, next } = openOffers(1);
  state.takesCalls = false;
  for (let number = 0; number <= NODE_LINK.maxWants; number += 1) offers.wanted(want(number));
  expect(waiting.size).toBe(NODE_LINK.maxWants);
  next();
  expect(sent).toEqual([]);
});
