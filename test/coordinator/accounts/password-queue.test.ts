import {
  MAX_AT_ONCE,
  MAX_WAITING,
  PasswordQueue,
} from '@inference-gateway/coordinator/accounts/password-queue';
import { ApiError } from '@inference-gateway/shared/errors';
import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';

/** A cheap hash: this file tests the queue, not the hash. */
function cheapHash(password: string): string {
  const salt = Buffer.from('0123456789abcdef');
  const hash = scryptSync(password, salt, 32, { cost: 2, blockSize: 1, parallelization: 1 });
  return `$scrypt$ln=1,r=1,p=1$${salt.toString('base64')}$${hash.toString('base64')}`;
}

const RIGHT = 'the right password';
const stored = cheapHash(RIGHT);

test('a line of this length is served whole, and one more is told to come back', async () => {
  const passwords = new PasswordQueue();
  const all = MAX_AT_ONCE + MAX_WAITING;
  const checks = Array.from({ length: all + 3 }, () => passwords.check(RIGHT, stored));
  const ends = await Promise.allSettled(checks);
  const served = ends.slice(0, all).map((end) => end.status === 'fulfilled' && end.value);
  expect(served).toEqual(Array.from({ length: all }, () => true));
  for (const end of ends.slice(all)) {
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'capacity_exhausted' } });
    expect((end as PromiseRejectedResult).reason).toBeInstanceOf(ApiError);
  }
});

test('one that fails gives its place free', async () => {
  const passwords = new PasswordQueue();
  const broken = Array.from({ length: MAX_AT_ONCE + 3 }, () => passwords.check(RIGHT, 'broken'));
  const ends = await Promise.allSettled(broken);
  expect(ends.map(({ status }) => status)).toEqual(broken.map(() => 'rejected'));
  const later = Array.from({ length: MAX_AT_ONCE + MAX_WAITING }, () =>
    passwords.check(RIGHT, stored),
  );
  expect(await Promise.all(later)).not.toContain(false);
});

test('it hashes what it then knows, and nobody has a password', async () => {
  const passwords = new PasswordQueue();
  const hash = await passwords.hash(RIGHT);
  expect(await passwords.check(RIGHT, hash)).toBe(true);
  expect(await passwords.check(RIGHT, null)).toBe(false);
});
