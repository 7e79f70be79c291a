import { EventSplitter } from '@inference-gateway/coordinator/http/answers/stream-answer';
import { describe, expect, it } from 'vitest';

const EVENTS = 'data: {"a":1}\n\ndata: {"b":"grün"}\n\ndata: {"c":[]}\n\n';

function push(splitter: EventSplitter, bytes: string | Uint8Array): string {
  const cut = splitter.push(Buffer.from(bytes));
  return 'events' in cut ? cut.events.toString() : `problem: ${cut.problem}`;
}

describe('the splitter', () => {
  it('passes whole events on as they come', () => {
    const splitter = new EventSplitter();
    expect(push(splitter, EVENTS)).toBe(EVENTS);
    expect(splitter.isHalfway).toBe(false);
  });

  it('gives the same events for every way of cutting the bytes in two', () => {
    const bytes = Buffer.from(EVENTS);
    for (let at = 0; at <= bytes.length; at++) {
      const splitter = new EventSplitter();
      const passed = push(splitter, bytes.subarray(0, at)) + push(splitter, bytes.subarray(at));
      expect(passed).toBe(EVENTS);
    }
  });

  it('gives them for bytes that come one at a time', () => {
    const splitter = new EventSplitter();
    const passed = Array.from(Buffer.from(EVENTS), (byte) => push(splitter, Buffer.from([byte])));
    expect(passed.join('')).toBe(EVENTS);
  });

  it('looks at each byte of a long event once, however it is cut', () => {
    const splitter = new EventSplitter();
    push(splitter, `data: {"${'x'.repeat(900_000)}`);
    const startedAt = performance.now();
    for (let i = 0; i < 20_000; i++) push(splitter, 'x');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('passes nothing on before its event is whole', () => {
    const splitter = new EventSplitter();
    expect(push(splitter, 'data: {"a":')).toBe('');
    expect(splitter.isHalfway).toBe(true);
    expect(push(splitter, '1}\n')).toBe('');
    expect(push(splitter, '\ndata: {')).toBe('data: {"a":1}\n\n');
    expect(splitter.isHalfway).toBe(true);
  });

  it.each([
    ['a named event', 'event: error\ndata: {}\n\n'],
    ['a comment', ': ping\n\n'],
    ["the end marker, which is not the agent's to send", 'data: [DONE]\n\n'],
    ['data of two lines', 'data: {\ndata: }\n\n'],
    ['a carriage return', 'data: {}\r\n\n'],
    ['an empty event', '\n\n'],
    ['text behind an event', 'data: {}\n\nhello\n\n'],
    ['an HTML page', '<html></html>\n\n'],
  ])('refuses %s', (_, bytes) => {
    expect(push(new EventSplitter(), bytes)).toMatch(/^problem: /);
  });

  it('holds back at most 1 MiB', () => {
    const splitter = new EventSplitter();
    const piece = Buffer.alloc(512 * 1024, 97);
    expect(push(splitter, Buffer.concat([Buffer.from('data: {'), piece]))).toBe('');
    expect(push(splitter, piece)).toBe('problem: an event is longer than 1 MiB');
  });
});
