import { newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';

/** Length of a key's stored prefix, which tells keys apart: `gwk_` and eight more characters. */
export const KEY_PREFIX_CHARACTERS = 12;

/** Makes a new API key: the secret, which is shown once, and the values that are stored. */
export function newKeySecret(): {
  readonly secret: string;
  readonly kept: { readonly prefix: string; readonly hash: string };
} {
  const secret = newSecret('gwk');
  const prefix = secret.slice(0, KEY_PREFIX_CHARACTERS);
  return { secret, kept: { prefix, hash: hashSecret(secret) } };
}
