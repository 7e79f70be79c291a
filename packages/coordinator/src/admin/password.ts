/** Passwords, as they are kept: `$scrypt$ln=15,r=8,p=3$salt$hash`, both in base64. */
import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * 32 MiB and some 200 ms for each guess; stronger in memory than a small rented server can spare.
 */
const COST = { log2: 15, blockSize: 8, parallelization: 3 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;

const deriveKey = promisify<string, Buffer, number, object, Buffer>(scrypt);

export async function hashPassword(password: string): Promise<string> {
  const { log2, blockSize, parallelization } = COST;
  const salt = randomBytes(SALT_BYTES);
  // One letter can be typed as one code point or two: both must be the same password.
  const hash = await deriveKey(password.normalize('NFKC'), salt, HASH_BYTES, {
    cost: 2 ** log2,
    blockSize,
    parallelization,
    maxmem: MAX_MEMORY_BYTES,
  });
  const parameters = `ln=${log2},r=${blockSize},p=${parallelization}`;
  return `$scrypt$${parameters}$${salt.toString('base64')}$${hash.toString('base64')}`;
}
