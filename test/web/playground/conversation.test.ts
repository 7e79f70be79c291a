import { describe, expect, it } from 'vitest';
import {
  chatRequest,
  DEFAULT_SETTINGS,
} from '../../../packages/coordinator/web/src/screens/playground/chat/chat-request.js';
import {
  before,
  isEmpty,
  messagesOf,
  startedAnswer,
  withAnswer,
} from '../../../packages/coordinator/web/src/screens/playground/chat/conversation.js';
import type {
  Answer,
  Turn,
} from '../../../packages/coordinator/web/src/screens/playground/chat/conversation.js';
import {
  readKept,
  writeKept,
} from '../../../packages/coordinator/web/src/screens/playground/chat/kept-chat.js';

const said = (text: string): Answer => ({ ...startedAnswer('tiny'), state: 'done', text });
const prompt = (text: string) => ({ text, pictures: [] });

const long = (id: number): Turn => ({
  id,
  prompt: prompt('x'),
  answers: [said('y'.repeat(900_000)), null],
});

const TURNS: readonly Turn[] = [
  { id: 1, prompt: prompt('one'), answers: [said('1'), null] },
  { id: 2, prompt: prompt('fails'), answers: [{ ...said(''), state: 'failed' }, null] },
  { id: 3, prompt: prompt('two'), answers: [said('2'), said('zwei')] },
];

describe('what a model is told', () => {
  it('is the system prompt, what was answered, and the new prompt', () => {
    expect(messagesOf(TURNS, prompt('three'), { side: 0, system: 'Be short.' })).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '1' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'three' },
    ]);
  });

  it('is its own side, and the first one’s from before it was asked', () => {
    const messages = messagesOf(TURNS, prompt('three'), { side: 1, system: ' ' });
    const contents = messages.map(({ content }) => content);
    expect(contents).toEqual(['one', '1', 'two', 'zwei', 'three']);
  });

  it('has pictures as parts, and no empty text beside them', () => {
    const url = 'data:image/png;base64,AAAA';
    const pictured = { text: ' ', pictures: [{ name: 'cat.png', url }] };
    expect(isEmpty(pictured)).toBe(false);
    expect(messagesOf([], pictured, { side: 0, system: '' })).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
    ]);
  });
});

describe('a conversation', () => {
  it('forgets a turn and what followed it', () => {
    expect(before(TURNS, 2).map(({ id }) => id)).toEqual([1]);
    expect(before(TURNS, 9)).toBe(TURNS);
  });

  it('keeps the turns that did not change as the same objects', () => {
    const next = withAnswer(TURNS, { id: 3, side: 1 }, said('deux'));
    expect(next[0]).toBe(TURNS[0]);
    expect(next[2]?.answers.map((one) => one?.text)).toEqual(['2', 'deux']);
  });
});

describe('the request of a chat', () => {
  it('has the parameters that were set, as numbers', () => {
    const settings = { ...DEFAULT_SETTINGS, temperature: '0', topP: 'x', maxTokens: ' 64 ' };
    const { body } = chatRequest('tiny', [], { settings, isStreamed: false });
    expect(body).toEqual({ model: 'tiny', messages: [], temperature: 0, max_tokens: 64 });
  });

  it('asks for the usage where it is streamed', () => {
    const settings = { ...DEFAULT_SETTINGS, stop: 'END\n\nHALT' };
    const { body } = chatRequest('tiny', [], { settings, isStreamed: true });
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(body['stop']).toEqual(['END', 'HALT']);
  });
});

describe('a conversation that is kept', () => {
  const kept = { turns: TURNS, models: ['a', 'b'] as const, isCompared: true };
  const chat = { ...kept, settings: DEFAULT_SETTINGS };

  it('comes back to the same member alone', () => {
    const text = writeKept(chat, 'anna');
    expect(readKept(text, 'anna')).toEqual(chat);
    expect(readKept(text, 'ben')).toBe(null);
    expect(readKept('{"turns":1}', 'anna')).toBe(null);
    expect(readKept('no json', 'anna')).toBe(null);
    expect(readKept(null, 'anna')).toBe(null);
  });

  it('runs no more when it comes back', () => {
    const turns = [{ id: 1, prompt: prompt('x'), answers: [startedAnswer('a'), null] as const }];
    const back = readKept(writeKept({ ...chat, turns }, 'anna'), 'anna');
    expect(back?.turns[0]?.answers[0]?.state).toBe('stopped');
  });

  it('loses its pictures first, then what was said first, where it is too long', () => {
    const url = `data:image/png;base64,${'A'.repeat(1_500_000)}`;
    const pictured = (id: number): Turn => ({
      id,
      prompt: { text: `t${id}`, pictures: [{ name: 'p', url }] },
      answers: [said('x'), null],
    });
    const seen = readKept(writeKept({ ...chat, turns: [pictured(1), pictured(2)] }, 'a'), 'a');
    expect(seen?.turns.map((turn) => turn.prompt.pictures)).toEqual([[], []]);
    const last = readKept(writeKept({ ...chat, turns: [1, 2, 3].map(long) }, 'a'), 'a');
    expect(last?.turns.map(({ id }) => id)).toEqual([2, 3]);
  });
});
