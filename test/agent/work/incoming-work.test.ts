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
