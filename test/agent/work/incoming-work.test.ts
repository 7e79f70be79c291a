/** What a coordinator can send to an agent, well or badly. */
import { LINK } from '@inference-gateway/shared/protocol/version';
import { describe, expect, test } from 'vitest';
import { openWork } from './work-stage.js';
import type { Parts } from './work-stage.js';

const file = (bytes: number): Parts => [{ name: 'file', content_type: 'audio/wav', bytes }];

describe('a request', () => {
  test('is its body and then its files, however they are cut', async () => {
    const { work } = openWork([...file(3), { name: 'mask', content_type: 'image/png', bytes: 2 }]);
    for (const byte of Buffer.from('{}abcde')) work.receive(Buffer.of(byte));
    expect((await work.request.body).toString()).toBe('{}');
    const whole = [];
    for (const upload of work.request.uploads) {
      const pieces = [];
      for await (const piece of upload.read()) pieces.push(piece);
      whole.push(Buffer.concat(pieces).toString());
    }
    expect(whole).toEqual(['abc', 'de']);
  });

  test('gets credit for a file only as it is read', async () => {
    const { work, sent } = openWork(file(LINK.windowBytes * 2));
    work.receive(Buffer.from('{}'));
    const half = LINK.windowBytes / 2;
    work.receive(Buffer.alloc(half));
    expect(sent).toEqual([]);
    const [upload] = work.request.uploads;
    const pieces = upload?.read()[Symbol.asyncIterator]();
    await pieces?.next();
    // Taken is what the reader has come back from.
    work.receive(Buffer.alloc(1));
    await pieces?.next();
    expect(sent).toEqual(['WINDOW']);
  });
});

test('more bytes than credit end the work, and are not kept', async () => {
  const { work, sent, isClosed } = openWork(file(LINK.windowBytes * 8));
  work.receive(Buffer.from('{}'));
  for (let i = 0; i < 5; i++) work.receive(Buffer.alloc(LINK.windowBytes / 4));
  expect(sent).toHaveLength(1);
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ t: 'RESET', code: 'FLOW_CONTROL', stream: 1 });
  expect(isClosed()).toBe(true);
  expect(work.signal.aborted).toBe(true);
  const [upload] = work.request.uploads;
  await expect(upload?.read()[Symbol.asyncIterator]().next()).rejects.toBe('canceled');
});

/** The messages, and DATA for bytes. */
function tagsOf(sent: readonly string[]): string[] {
  return sent.map((one) => (one === 'WINDOW' ? 'DATA' : (JSON.parse(one) as { t: string }).t));
}

describe('the answer', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

  test('of a short document is one message', async () => {
    const { work, sent, answered, isClosed } = openWork([], {}, true);
    work.head(200, 'application/json');
    await work.data(Buffer.from('{}'));
    expect(sent).toEqual([]);
    work.end({ usage, energy_j: 4.2 });
    const [answer = ''] = sent;
    expect(JSON.parse(answer)).toMatchObject({
      t: 'ANSWER',
      stream: 1,
      status: 200,
      usage,
      energy_j: 4.2,
    });
    expect([sent.length, answered(), isClosed()]).toEqual([1, '{}', true]);
  });

  test.each([
    { what: 'to a coordinator without the feature', reads: false },
    { what: 'that is longer than a frame takes', bytes: LINK.maxInlineBytes + 1 },
    { what: 'of events, which are sent as they come', type: 'text/event-stream' },
  ])('$what is its head, its bytes and its end', async (answer) => {
    const { type = 'application/json', bytes = 2, reads = true } = answer;
    const { work, sent, answered } = openWork([], {}, reads);
    work.head(200, type);
    await work.data(Buffer.alloc(bytes, 'x'));
    work.end({});
    await Promise.resolve();
    expect(tagsOf(sent)).toEqual(['HEAD', 'DATA', 'END']);
    expect(answered()).toHaveLength(bytes);
  });

  test('of several pieces goes on with the second', async () => {
    const { work, sent, answered } = openWork([], {}, true);
    work.head(200, 'application/json');
    await work.data(Buffer.from('[1'));
    await work.data(Buffer.from(',2]'));
    work.end({});
    expect(tagsOf(sent)).toEqual(['HEAD', 'DATA', 'DATA', 'END']);
    expect(answered()).toBe('[1,2]');
  });

  test('that failed after its head was held is a failure alone', () => {
    const { work, sent, answered } = openWork([], {}, true);
    work.head(200, 'application/json');
    work.fail('LOCAL_ERROR', 'broke off');
    expect(tagsOf(sent)).toEqual(['RESET']);
    expect(answered()).toBe('');
  });
});
