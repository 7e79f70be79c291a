import { describe, expect, it } from 'vitest';
import {
  NOTHING_HEARD,
  hear,
  splitThinking,
} from '../../../packages/coordinator/web/src/screens/playground/chat/heard.js';

function heardOf(...events: readonly unknown[]) {
  const written = events.map((event) =>
    typeof event === 'string' ? event : JSON.stringify(event),
  );
  return written.reduce(hear, NOTHING_HEARD);
}

const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

describe('what is heard of a streamed answer', () => {
  it('is its text, why it ended, and how many tokens it took', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const heard = heardOf(
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }, 'stop'),
      { choices: [], usage },
      '[DONE]',
    );
    expect(heard).toEqual({
      text: 'Hello',
      reasoning: '',
      finish: 'stop',
      tokens: { prompt: 5, completion: 2 },
      error: null,
      isDone: true,
    });
  });

  it('has the reasoning once, under whichever of its two names it came', () => {
    const both = delta({ reasoning: 'Hm', reasoning_content: 'Hm' });
    expect(heardOf(both, delta({ reasoning: '…' })).reasoning).toBe('Hm…');
  });

  it('keeps what came before an error, and the error', () => {
    const error = { message: 'out of memory', type: 'upstream_error', code: 'provider_error' };
    const heard = heardOf(delta({ content: 'Half' }), { error });
    expect(heard).toMatchObject({ text: 'Half', isDone: false });
    expect(heard.error).toEqual({ message: 'out of memory', code: 'provider_error' });
  });

  it('is not changed by what is no chunk of a chat', () => {
    for (const odd of ['no json', 'null', '[]', '"text"', '{"choices":[]}', '{"error":null}']) {
      expect(heardOf(delta({ content: 'a' }), odd)).toEqual(heardOf(delta({ content: 'a' })));
    }
  });
});

describe('thinking that stands at the head of an answer', () => {
  it('is told apart from it', () => {
    const text = '<think>\nFour?\n</think>\n\nFour.';
    expect(splitThinking({ text, reasoning: '' })).toEqual({ text: 'Four.', reasoning: 'Four?\n' });
  });

  it('is thinking while it has no end yet', () => {
    const split = splitThinking({ text: '<think>Fo', reasoning: '' });
    expect(split).toEqual({ text: '', reasoning: 'Fo' });
  });

  it('is text where it stands elsewhere, and where the reasoning came by itself', () => {
    const quoted = { text: 'Write <think>x</think>.', reasoning: '' };
    expect(splitThinking(quoted)).toEqual(quoted);
    const apart = { text: '<think>x</think>', reasoning: 'Hm' };
    expect(splitThinking(apart)).toEqual(apart);
  });
});
