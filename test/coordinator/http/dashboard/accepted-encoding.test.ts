import { acceptedEncoding } from '@inference-gateway/coordinator/http/dashboard/web';
import { expect, test } from 'vitest';

test.each([
  ['', null],
  ['identity', null],
  ['deflate, zstd', null],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;Q=1', 'gzip'],
  ['br;q=0.1, gzip;q=0.9', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['gzip;q=0, br', 'br'],
  ['gzip;q=0, br;q=0', null],
  ['*', 'br'],
  ['*;q=0.2, gzip;q=0.5', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['identity;q=1, gzip;q=0.5', null],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0', null],
  ['gzip;q=much', null],
  [',;,', null],
])('to "%s" goes %s', (header, encoding) => {
  expect(acceptedEncoding(header, ['br', 'gzip'])).toBe(encoding);
});

test('what a file does not have is not sent', () => {
  expect(acceptedEncoding('br, gzip;q=0.5', ['gzip'])).toBe('gzip');
  expect(acceptedEncoding('br, gzip', [])).toBeNull();
});
