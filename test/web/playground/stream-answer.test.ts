import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import {
  EventSplitter,
  NOTHING_HEARD,
  hear,
  readEvents,
  splitThinking,
} from '../../../packages/coordinator/web/src/screens/playground/chat/stream-answer.js';

const STREAM =
  ': keep-alive\n\ndata: {"a":1}\n\nevent: x\ndata: one\ndata: two\r\n\r\ndata:[DONE]\n\n';
const EVENTS = ['{"a":1}', 'one\ntwo', '[DONE]'];

async function collect(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const found: string[] = [];
  for await (const data of readEvents(body)) found.push(data);
  return found;
}

describe('the events of a stream', () => {
  it('are whole, in order, and without comments', () => {
    expect(new EventSplitter().push(STREAM)).toEqual(EVENTS);
  });

  it('are the same wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
        const splitter = new EventSplitter();
        const places = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
        const found = places.flatMap((place, index) =>
          splitter.push(STREAM.slice(places[index - 1] ?? 0, place)),
        );
        expect(found).toEqual(EVENTS);
      }),
    );
  });

  it('are not told before they have ended', () => {
    const splitter = new EventSplitter();
    expect(splitter.push('data: half')).toEqual([]);
    expect(splitter.push(' and half\n')).toEqual([]);
    expect(splitter.push('\n')).toEqual(['half and half']);
  });

  it('have letters that were cut in the middle', async () => {
    const bytes = new TextEncoder().encode('data: Zürich\n\n');
    const parts = [bytes.slice(0, 8), bytes.slice(8)];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    expect(await collect(body)).toEqual(['Zürich']);
  });

  it('are read no further once nobody wants them: the connection is closed', async () => {
    let isCanceled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\ndata: 2\n\n')),
      cancel: () => {
        isCanceled = true;
      },
    });
    for await (const data of readEvents(body)) {
      expect(data).toBe('1');
      break;
    }
    expect(isCanceled).toBe(true);
  });

  it('of more than a model would send end in an error', () => {
    const splitter = new EventSplitter();
    expect(() => splitter.push('x'.repeat(17 * 1024 * 1024))).toThrow('too long');
  });
});

function heardOf(...events: readonly unknown[]) {
  const written = events.map((event) =>
    typeof event === 'string' ? event : JSON.stringify(event),
  );
  return written.reduce(hear, NOTHING_HEARD);
}

const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

function part(index: number, fields: object) {
  return delta({ tool_calls: [{ index, ...fields }] });
}

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
      toolCalls: [],
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

  it('has the tool calls, put together from their parts', () => {
    const heard = heardOf(
      part(0, { id: 'call_1', function: { name: 'weather', arguments: '' } }),
      part(0, { function: { arguments: '{"city":' } }),
      part(0, { function: { arguments: '"Bern"}' } }),
      part(1, { function: { name: 'time', arguments: '{}' } }),
      part(9, { function: { name: 'far', arguments: '' } }),
      part(-1, { function: { name: 'odd', arguments: '' } }),
    );
    expect(heard.toolCalls).toEqual([
      { name: 'weather', arguments: '{"city":"Bern"}' },
      { name: 'time', arguments: '{}' },
    ]);
    const many = Array.from({ length: 70 }, (_, at) => part(at, { function: { name: 'x' } }));
    expect(heardOf(...many).toolCalls).toHaveLength(64);
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
