import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import { Conversations } from '@inference-gateway/coordinator/relay/conversations';
import type { Call } from '@inference-gateway/coordinator/run/work';
import { expect, it, test } from 'vitest';

function chat(messages: unknown, changed: Partial<Call> = {}): Call {
  const limits = { requests: null, concurrent: null };
  const caller = { memberId: 'anna', memberName: 'Anna', keyId: 'k', scope: 'any' as const };
  return {
    requestId: 'req_1',
    caller: { ...caller, limits },
    endpoint: 'chat',
    model: 'm',
    needs: NO_NEEDS,
    body: Buffer.from(JSON.stringify({ model: 'm', messages })),
    uploads: [],
    slots: 1,
    asked: null,
    stream: false,
    receivedAt: 0,
    limitMs: null,
    signal: new AbortController().signal,
    ...changed,
  };
}

function said(...texts: string[]): { role: string; content: string }[] {
  return texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
}

/** A call that could choose between providers, and was answered. */
function answered(conversations: Conversations, work: Call, providerId: string): void {
  conversations.preferred(work);
  conversations.served(work, providerId);
}

it('a conversation prefers the provider of its last turn', () => {
  const conversations = new Conversations();
  answered(conversations, chat(said('Hello')), 'den-pc');
  expect(conversations.preferred(chat(said('Hello', 'Hi', 'And?')))).toBe('den-pc');
});

it('the longest part that is known decides, and a branch goes back to where it began', () => {
  const conversations = new Conversations();
  answered(conversations, chat(said('Hello')), 'den-pc');
  answered(conversations, chat(said('Hello', 'Hi', 'And?')), 'attic-pc');
  const further = chat(said('Hello', 'Hi', 'And?', 'Well.', 'So?'));
  expect(conversations.preferred(further)).toBe('attic-pc');
  expect(conversations.preferred(chat(said('Hello', 'Hi', 'Or?')))).toBe('den-pc');
});

it('a call that had no choice is not noted', () => {
  const conversations = new Conversations();
  conversations.served(chat(said('Hello')), 'den-pc');
  expect(conversations.preferred(chat(said('Hello', 'Hi', 'And?')))).toBeNull();
});

const HELLO = said('Hello');

test.each<[string, Call]>([
  ['of another caller', chat(HELLO, { caller: { ...chat([]).caller, memberId: 'ben' } })],
  ['for another model', chat(HELLO, { model: 'n' })],
  ['to another endpoint', chat(HELLO, { endpoint: 'completions' })],
  ['of other words', chat(said('Good morning'))],
  ['without messages', chat('none')],
  [
    'too long to be read again',
    chat(HELLO, {
      body: Buffer.from(JSON.stringify({ pad: ' '.repeat(1024 * 1024), messages: HELLO })),
    }),
  ],
])('a call %s prefers nobody', (_, work) => {
  const conversations = new Conversations();
  answered(conversations, chat(HELLO), 'den-pc');
  expect(conversations.preferred(work)).toBeNull();
});

it('what was quiet for longest is forgotten beyond 10,000 conversations', () => {
  const conversations = new Conversations();
  answered(conversations, chat(said('oldest')), 'den-pc');
  answered(conversations, chat(said('old, but used')), 'attic-pc');
  for (let i = 0; i < 9_999; i++) {
    if (i === 9_998) conversations.preferred(chat(said('old, but used')));
    answered(conversations, chat(said(`conversation ${i}`)), 'den-pc');
  }
  expect(conversations.preferred(chat(said('oldest')))).toBeNull();
  expect(conversations.preferred(chat(said('old, but used')))).toBe('attic-pc');
});
