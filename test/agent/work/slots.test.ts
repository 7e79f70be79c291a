/** Which work may run concurrently. */
import { Slots } from '@inference-gateway/agent/work/runner';
import { expect, test } from 'vitest';

const PAINTER = { serviceId: 'image-1', slots: 1, slotGroup: 'gpu0' };
const CHAT = { serviceId: 'llm-1', slots: 2, slotGroup: 'gpu0' };
const OTHER = { serviceId: 'llm-2', slots: 1, slotGroup: null };
const ALL = [PAINTER, CHAT, OTHER];

test('a service has so many slots, and a group those of its largest', () => {
  const slots = new Slots();
  const first = slots.take(PAINTER, ALL);
  expect(slots.take(PAINTER, ALL)).toBeNull();
  expect(slots.take(CHAT, ALL)).not.toBeNull();
  expect(slots.take(CHAT, ALL)).toBeNull();
  expect(slots.take(OTHER, ALL)).not.toBeNull();
  first?.release();
  first?.release();
  expect(slots.take(CHAT, ALL)).not.toBeNull();
  expect(slots.take(PAINTER, ALL)).toBeNull();
});

test('a service too busy to be listed has its card until its work is done', () => {
  const slots = new Slots();
  const chat = { ...CHAT, slots: 1 };
  const painting = slots.take(PAINTER, [PAINTER, chat]);
  expect(slots.take(chat, [chat])).toBeNull();
  painting?.release();
  expect(slots.take(chat, [chat])).not.toBeNull();
});
