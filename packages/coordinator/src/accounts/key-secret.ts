import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';

/** Of a key, kept and shown to tell keys apart: `gwk_` and eight more. */
export const KEY_PREFIX_CHARACTERS = 12;

/** A new API key: the secret, which is told once, and what is kept of it. */
export function newKeySecret(): {
  readonly secret: string;
  readonly kept: { readonly prefix: string; readonly hash: string };
} {
  const secret = newSecret('gwk');
  const prefix = secret.slice(0, KEY_PREFIX_CHARACTERS);
  return { secret, kept: { prefix, hash: hashSecret(secret) } };
}
