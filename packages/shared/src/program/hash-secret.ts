import { createHash } from 'node:crypto';

/** SHA-256 of a secret, hex: all that is stored of it. Its 256 random bits need no salt. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
