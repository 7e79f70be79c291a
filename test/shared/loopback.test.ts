import { isLoopback } from '@inference-gateway/shared/loopback';
import { expect, test } from 'vitest';

test.each([
  ['http://localhost:1', true],
  ['http://127.0.0.1', true],
  ['http://127.1.2.3', true],
  ['http://[::1]:1', true],
  ['http://0.0.0.0', false],
  ['http://127.0.0.1.example.org', false],
  ['http://localhost.example.org', false],
  ['http://[::2]', false],
  ['http://10.0.0.1', false],
])('whether %s stays on this machine: %s', (url, stays) => {
  expect(isLoopback(new URL(url).hostname)).toBe(stays);
});
