import { SseParser } from '@inference-gateway/agent/openai-wire/sse-parser';
import type { SseEvent } from '@inference-gateway/agent/openai-wire/sse-parser';
import { describe, expect, test } from 'vitest';

function parse(...pieces: readonly (string | Uint8Array)[]): SseEvent[] {
  const parser = new SseParser();
  const events = pieces.flatMap((piece) => parser.push(Buffer.from(piece)));
  return [...events, ...parser.end()];
}

const data = (text: string): SseEvent => ({ kind: 'data', data: text });

describe('the parser', () => {
  test.each([
    ['one event', 'data: {"a":1}\n\n', [data('{"a":1}')]],
    ['no space behind the colon', 'data:x\n\n', [data('x')]],
    ['only the first space is dropped', 'data:  x\n\n', [data(' x')]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [data('a'), data('b')]],
    ['several data lines are joined', 'data: a\ndata: b\n\n', [data('a\nb')]],
    ['comments are dropped', ': ping\n\ndata: a\n: pong\n\n', [data('a')]],
    ['other fields are dropped', 'event: x\nid: 7\nretry: 5\ndata: a\n\n', [data('a')]],
    ['an event without data is none', 'event: x\n\n', []],
    ['empty data is none', 'data:\n\n', []],
    ['the end completes the last event', 'data: a', [data('a')]],
    ['a byte order mark is skipped', '\uFEFFdata: a\n\n', [data('a')]],
    [
      'an error line is an event',
      'error: {"message":"x"}\n\n',
      [{ kind: 'error', data: '{"message":"x"}' }],
    ],
    ['text that is no field is dropped', 'Internal Server Error\n\n', []],
  ])('%s', (_what, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  test('reads the same from any splitting of the bytes', () => {
    const bytes = Buffer.from(
      'data: {"t":"Grüße 👋"}\r\n\r\n: c\ndata: a\ndata: b\n\nerror: {}\n\n',
    );
    const whole = parse(bytes);
    expect(whole).toHaveLength(3);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(parse(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole);
    }
    expect(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  test('gives up on a line of more than 1 MiB, and on an event of many lines', () => {
    const parser = new SseParser();
    parser.push(Buffer.from(`data: ${'x'.repeat(1024 * 1024 - 10)}`));
    expect(() => parser.push(Buffer.from('x'.repeat(10)))).toThrow(/more than 1048576/);
    const line = `data: ${'x'.repeat(1000)}\n`;
    expect(() => parse(line.repeat(1100))).toThrow(/more than 1048576/);
  });
});
