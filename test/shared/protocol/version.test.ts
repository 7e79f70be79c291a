import { closeReason } from '@inference-gateway/shared/protocol/version';
import { expect, it } from 'vitest';

it.each([
  ['a short reason stays as it is', 'drained', 'drained'],
  ['a long one is cut to the 123 bytes of a close frame', 'x'.repeat(200), 'x'.repeat(123)],
  ['bytes count, not characters', '€'.repeat(100), '€'.repeat(41)],
  ['no character is cut in two', `x${'😀'.repeat(100)}`, `x${'😀'.repeat(30)}`],
])('%s', (_, reason, expected) => {
  expect(closeReason(reason)).toBe(expected);
});
