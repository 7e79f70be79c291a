import {
  hashPassword,
  isPassword,
  newPassword,
} from '@inference-gateway/coordinator/accounts/password';
import { scryptSync } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';

const PASSWORD = 'correct horse battery staple';

let stored: string;

beforeAll(async () => {
  stored = await hashPassword(PASSWORD);
});

test('a password is kept as scrypt, with its parameters and a salt of its own', async () => {
  expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/=]{24}\$[A-Za-z0-9+/=]{44}$/);
  expect(await hashPassword(PASSWORD)).not.toBe(stored);
});

test('the password that was hashed is right, and any other is wrong', async () => {
  expect(await isPassword(PASSWORD, stored)).toBe(true);
  expect(await isPassword(`${PASSWORD} `, stored)).toBe(false);
  expect(await isPassword('', stored)).toBe(false);
});

test('a letter is the same however it was typed', async () => {
  const composed = await hashPassword('caf\u00e9 au lait, sucr\u00e9');
  expect(await isPassword('cafe\u0301 au lait, sucre\u0301', composed)).toBe(true);
});

test('the parameters are those of the stored hash, whatever is used for new ones', async () => {
  const salt = Buffer.from('0123456789abcdef');
  const hash = scryptSync(PASSWORD, salt, 32, { cost: 2 ** 10, blockSize: 4, parallelization: 1 });
  const older = `$scrypt$ln=10,r=4,p=1$${salt.toString('base64')}$${hash.toString('base64')}`;
  expect(await isPassword(PASSWORD, older)).toBe(true);
  expect(await isPassword('another password', older)).toBe(false);
});

/** The time to reject a wrong password. Unit: ms. */
async function timed(hash: string | null): Promise<number> {
  const start = performance.now();
  expect(await isPassword('a wrong password', hash)).toBe(false);
  return performance.now() - start;
}

test('nobody’s password is wrong, and takes as long to find so', async () => {
  const [members, nobodys] = [await timed(stored), await timed(null)];
  // Without hashing it would take less than a hundredth of the time.
  expect(nobodys).toBeGreaterThan(members / 4);
});

test.each(['', '$scrypt$new', 'plain', '$scrypt$ln=15,r=8,p=3$c2FsdA==$c2hvcnQ='])(
  'what is no hash of ours is a fault, not a wrong password: %j',
  async (broken) => {
    await expect(isPassword(PASSWORD, broken)).rejects.toThrow('another form');
  },
);

test.each([
  ['a'.repeat(11), false],
  ['a'.repeat(12), true],
  ['a'.repeat(1_024), true],
  ['a'.repeat(1_025), false],
])('a new password of that length is allowed or not (case %#)', (password, isAllowed) => {
  expect(newPassword.safeParse(password).success).toBe(isAllowed);
});
