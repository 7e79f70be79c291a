import {
  contentTypeOf,
  DETECT_BYTES,
  detectFormat,
  extensionOf,
  formatOf,
} from '@inference-gateway/shared/media/types';
import { expect, test } from 'vitest';

const bytes = (text: string): Uint8Array => Buffer.from(text.padEnd(DETECT_BYTES, '\0'), 'latin1');

test.each([
  ['RIFF\x10\0\0\0WAVE', 'wav'],
  ['RIFF\x10\0\0\0WEBP', 'webp'],
  ['\x89PNG\r\n\x1a\n', 'png'],
  ['\xff\xd8\xff\xe0', 'jpeg'],
  ['\0\0\0\x20ftypM4A ', 'mp4'],
  ['\0\0\0\x20ftypisom', 'mp4'],
  ['fLaC', 'flac'],
  ['OggS', 'ogg'],
  ['\x1a\x45\xdf\xa3', 'webm'],
  ['ID3\x04', 'mp3'],
  ['\xff\xfb\x90', 'mp3'],
  ['\xff\xf3\x40', 'mp3'],
  ['\xff\xf1\x50', 'aac'],
])('%j begins a %s file', (start, format) => {
  expect(detectFormat(bytes(start))).toBe(format);
});

test.each([
  ['nothing', ''],
  ['text', 'hello world!'],
  ['UTF-16 text', '\xff\xfeh\0e\0l\0l\0o\0'],
  ['RIFF of another kind', 'RIFF\x10\0\0\0AVI '],
  ['half a magic number', '\x89PN'],
  ['HTML', '<!doctype html>'],
])('%s begins none', (_, start) => {
  expect(detectFormat(bytes(start))).toBeNull();
});

test('a start that is too short begins none, and throws nothing', () => {
  for (let length = 0; length < 4; length++) {
    expect(detectFormat(Buffer.from('RIFF').subarray(0, length))).toBeNull();
  }
});

test('a container has a content type for each family that it can hold, and no other', () => {
  expect(contentTypeOf('mp4', 'audio')).toBe('audio/mp4');
  expect(contentTypeOf('mp4', 'video')).toBe('video/mp4');
  expect(contentTypeOf('mp4', 'image')).toBeNull();
  expect(contentTypeOf('png', 'audio')).toBeNull();
});

test.each([
  ['audio/wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp4', 'm4a'],
  ['video/mp4', 'mp4'],
  ['image/jpeg', 'jpeg'],
  ['audio/pcm', 'pcm'],
  ['text/html', 'bin'],
])('a file of %s ends in .%s', (contentType, extension) => {
  expect(extensionOf(contentType)).toBe(extension);
});

test('the format is told from the content type as well', () => {
  expect(formatOf('audio/webm')).toBe('webm');
  expect(formatOf('text/plain')).toBeNull();
});
