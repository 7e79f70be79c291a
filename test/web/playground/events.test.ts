import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import {
  EventSplitter,
  readEvents,
} from '../../../packages/coordinator/web/src/screens/playground/chat/events.js';

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
