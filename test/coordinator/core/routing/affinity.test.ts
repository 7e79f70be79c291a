import { MAX_PREFIXES, prefixDigests } from '@inference-gateway/coordinator/core/routing/affinity';
import type { Conversation } from '@inference-gateway/coordinator/core/routing/affinity';
import { expect, it, test } from 'vitest';

/** A digest that returns its whole input, so that tests can read it. */
function digests(changed: Partial<Conversation>): readonly string[] {
  let all = '';
  const conversation = { memberId: 'anna', model: 'm', messages: [], ...changed };
  return prefixDigests(conversation, { update: (text) => (all += text), read: () => all });
}

function turns(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => ({ role: 'user', content: `turn ${i}` }));
}

it('the prefixes come longest first, in one pass', () => {
  const [whole, shorter, shortest, ...more] = digests({ messages: turns(3) });
  expect(more).toEqual([]);
  expect(whole).toContain('turn 2');
  expect(shorter).toBe(whole?.slice(0, shorter?.length));
  expect(shorter).not.toContain('turn 2');
  expect(shortest).not.toContain('turn 1');
});

it('the next turn of a conversation begins with the one before', () => {
  const [before] = digests({ messages: turns(3) });
  expect(digests({ messages: turns(5) })).toContain(before);
});

it('only the longest 32 are named, each of them whole', () => {
  const many = digests({ messages: turns(100) });
  expect(many).toHaveLength(MAX_PREFIXES);
  expect(many.at(-1)).toContain('turn 0');
  expect(many.at(-1)).toContain('turn 68');
  expect(many.at(-1)).not.toContain('turn 69');
});

test.each<[string, Partial<Conversation>]>([
  ['another caller', { memberId: 'ben' }],
  ['another model', { model: 'n' }],
  ['a caller whose name runs into the model', { memberId: 'annam', model: '' }],
  ['other words', { messages: [{ role: 'user', content: 'turn 1' }] }],
  ['the same words of another role', { messages: [{ role: 'system', content: 'turn 0' }] }],
  ['the words in two messages', { messages: [{ role: 'user', content: 'turn' }, ' 0'] }],
])('%s makes another conversation', (_, changed) => {
  const same = { messages: turns(1) };
  const [other] = digests({ ...same, ...changed });
  expect(digests(same)).not.toContain(other);
  expect(digests({ ...same, ...changed })).toContain(other);
});

it('a call without messages has no prefix', () => {
  expect(digests({ messages: [] })).toEqual([]);
});
