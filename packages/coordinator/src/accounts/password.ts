/** Passwords are stored as `$scrypt$ln=15,r=8,p=3$salt$hash`; salt and hash are base64. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod';
import { ApiError } from '@inference-gateway/shared/errors';
import { PASSWORD_CHARACTERS } from '../core/access/name.js';

interface Cost {
  readonly log2: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** 32 MiB and about 200 ms per guess. More memory would be too much for a small rented server. */
const COST: Cost = { log2: 15, blockSize: 8, parallelization: 3 };

const SALT_BYTES = 16;

const HASH_BYTES = 32;

/** Limit for the parameters of a stored hash. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;

const { least, most } = PASSWORD_CHARACTERS;

/** The rules for a new password. */
export const newPassword = z
  .string()
  .min(least, `a password has at least ${least} characters`)
  .max(most, `a password has at most ${most} characters`);

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  const parameters = `ln=${COST.log2},r=${COST.blockSize},p=${COST.parallelization}`;
  return `$scrypt$${parameters}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Compares a password with a stored hash. A null hash takes as long as a wrong password, so that
 * the response time does not show whether the member exists.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const { cost, salt, hash } = stored === null ? NOBODYS : readHash(stored);
  const derived = await derive(password, salt, cost);
  return timingSafeEqual(derived, hash) && stored !== null;
}

interface StoredPassword {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const NOBODYS: StoredPassword = {
  cost: COST,
  salt: randomBytes(SALT_BYTES),
  hash: randomBytes(HASH_BYTES),
};

const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([^$]+)\$([^$]+)$/;

function readHash(stored: string): StoredPassword {
  const [, log2, blockSize, parallelization, salt = '', hash = ''] = STORED.exec(stored) ?? [];
  const bytes = Buffer.from(hash, 'base64');
  if (bytes.length !== HASH_BYTES) throw new Error('a stored password hash has another form');
  return {
    cost: {
      log2: Number(log2),
      blockSize: Number(blockSize),
      parallelization: Number(parallelization),
    },
    salt: Buffer.from(salt, 'base64'),
    hash: bytes,
  };
}

const deriveKey = promisify<string, Buffer, number, object, Buffer>(scrypt);

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  // A letter can be one code point or two. Both forms must give the same password.
  return deriveKey(password.normalize('NFKC'), salt, HASH_BYTES, {
    cost: 2 ** cost.log2,
    blockSize: cost.blockSize,
    parallelization: cost.parallelization,
    maxmem: MAX_MEMORY_BYTES,
  });
}

/** Throws `invalid_value` if the password breaks the rules. The message does not repeat it. */
export function requirePassword(password: string): void {
  const issue = newPassword.safeParse(password).error?.issues[0];
  if (issue === undefined) return;
  const message = `The password is not allowed: ${issue.message}.`;
  throw new ApiError('invalid_value', message, { param: 'password' });
}
