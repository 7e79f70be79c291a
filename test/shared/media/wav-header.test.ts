import { hasPlaceholderLength, mendWavHeader } from '@inference-gateway/shared/media/wav-header';
import { describe, expect, test } from 'vitest';
import { silentWav } from '../../support/sound.js';

const WHOLE = silentWav(1);
const UNKNOWN = 0xffffffff;

describe('a header is mended to that of the whole file', () => {
  test.each([
    ['zeros', { riffBytes: 0, dataBytes: 0 }],
    ['the greatest numbers', { riffBytes: UNKNOWN, dataBytes: UNKNOWN }],
    ['the data length alone', { dataBytes: 0 }],
    ['the RIFF length alone', { riffBytes: UNKNOWN }],
    ['a length that promises one byte too many', { dataBytes: 16_001 }],
    ['lengths of signed numbers', { riffBytes: 0x7fffffff, dataBytes: 0x7fffffff - 36 }],
  ])('where it says %s', (_, said) => {
    const streamed = silentWav(1, said);
    const mended = mendWavHeader(streamed.subarray(0, 44), streamed.length);
    expect(Buffer.from(mended ?? [])).toEqual(WHOLE.subarray(0, 44));
  });

  test('where other chunks stand before the sound', () => {
    const streamed = silentWav(1, { riffBytes: UNKNOWN, dataBytes: UNKNOWN });
    const list = Buffer.from('LIST\x05\0\0\0INFOx\0', 'latin1');
    const file = Buffer.concat([streamed.subarray(0, 36), list, streamed.subarray(36)]);
    const mended = Buffer.from(mendWavHeader(file, file.length) ?? []);
    expect(mended.readUInt32LE(4)).toBe(file.length - 8);
    expect(mended.readUInt32LE(36 + list.length + 4)).toBe(16_000);
  });

  test('and the bytes that were given stay as they were', () => {
    const streamed = silentWav(1, { dataBytes: 0 });
    const before = Buffer.from(streamed);
    mendWavHeader(streamed, streamed.length);
    expect(streamed).toEqual(before);
  });
});

describe('nothing is mended', () => {
  test.each([
    ['of a whole file', WHOLE],
    ['of a file with more behind its sound', Buffer.concat([WHOLE, Buffer.alloc(20)])],
    ['of another format', Buffer.from('OggS and some more bytes than a header has')],
    ['of a RIFF that is no WAVE', Buffer.from('RIFF\0\0\0\0WEBPVP8 and more bytes')],
    ['of a start without sound', silentWav(1, { dataBytes: 0 }).subarray(0, 40)],
    ['of nothing', Buffer.alloc(0)],
  ])('%s', (_, file) => {
    expect(mendWavHeader(file, file.length)).toBeNull();
  });
});

describe('a length is a placeholder', () => {
  test.each([
    [true, { dataBytes: 0 }],
    [true, { riffBytes: 0 }],
    [true, { dataBytes: UNKNOWN }],
    [true, { riffBytes: 0x7fffffff }],
    [false, {}],
    [false, { dataBytes: 1024 ** 3 }],
  ])('%s where the header says %o', (expected, said) => {
    expect(hasPlaceholderLength(silentWav(1, said).subarray(0, 64))).toBe(expected);
  });

  test('that is not told yet is as good as one', () => {
    expect(hasPlaceholderLength(silentWav(1).subarray(0, 40))).toBe(true);
  });

  test('never in another format', () => {
    expect(hasPlaceholderLength(Buffer.alloc(64))).toBe(false);
  });
});
