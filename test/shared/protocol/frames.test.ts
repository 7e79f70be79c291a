import {
  decodeFrame,
  encodeData,
  encodeMessage,
  encodeWindow,
} from '@inference-gateway/shared/protocol/frames';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { describe, expect, it } from 'vitest';

describe('binary frames', () => {
  it('carry bytes of a stream behind an 8-byte header', () => {
    const frame = encodeData(0x01020304, Uint8Array.of(9, 8, 7));
    expect([...frame]).toEqual([1, 0, 0, 0, 1, 2, 3, 4, 9, 8, 7]);
    expect(decodeFrame(frame)).toEqual({
      kind: 'data',
      stream: 0x01020304,
      bytes: Buffer.of(9, 8, 7),
    });
  });

  it('carry credit', () => {
    const frame = encodeWindow(7, 131_072);
    expect([...frame]).toEqual([2, 0, 0, 0, 0, 0, 0, 7, 0, 2, 0, 0]);
    expect(decodeFrame(frame)).toEqual({ kind: 'window', stream: 7, credit: 131_072 });
  });

  it.each([
    ['bytes', '{"t":"OPEN"}', Buffer.of(9, 8)],
    ['letters of several bytes', '{"model":"größer 漢"}', Buffer.of(1)],
    ['no bytes', '{}', Buffer.alloc(0)],
  ])('carry a message with %s', (_, text, bytes) => {
    const frame = decodeFrame(encodeMessage(7, text, bytes));
    expect(frame).toEqual({ kind: 'message', stream: 7, text, bytes });
  });

  it('keep stream ids and credit of 32 bits whole', () => {
    const frame = decodeFrame(encodeWindow(0xffffffff, 0xfffffffe));
    expect(frame).toEqual({ kind: 'window', stream: 0xffffffff, credit: 0xfffffffe });
  });

  it.each([
    ['an empty message', new Uint8Array(0)],
    ['half a header', Uint8Array.of(1, 0, 0, 0, 0, 0, 0)],
    ['DATA without bytes', Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 1)],
    ['an unknown type', Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 1, 5)],
    ['WINDOW with three bytes', Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1)],
    ['WINDOW with five bytes', Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0)],
    ['MESSAGE without a message', Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)],
    ['MESSAGE without a length', Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 1, 0, 0)],
    ['MESSAGE that is cut', encodeMessage(1, '{"t":"OPEN"}', Buffer.alloc(0)).subarray(0, 20)],
    ['a longer message than 64 KiB', encodeMessage(1, 'x'.repeat(65_537), Buffer.of(1))],
    ['a message with more than 64 KiB', encodeMessage(1, '{}', new Uint8Array(65_537))],
    ['more than 64 KiB', encodeData(1, new Uint8Array(LINK.maxDataBytes + 1))],
  ])('are refused: %s', (_, message) => {
    expect(decodeFrame(message)).toBeNull();
  });

  it('hold up to 64 KiB', () => {
    const frame = decodeFrame(encodeData(1, new Uint8Array(LINK.maxDataBytes)));
    expect(frame?.kind === 'data' && frame.bytes.length).toBe(65_536);
  });
});
