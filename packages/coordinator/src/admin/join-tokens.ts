import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import { newSecret } from '@inference-gateway/shared/ids';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/name.js';
import { adminCommand } from './admin-context.js';
import { resolveMember } from './references.js';

const newToken = z.strictObject({
  owner: z.string(),
  /** What the provider will be called, unless its agent says otherwise. */
  name: z.string().regex(NAME_PATTERN, NAME_RULE).nullable(),
  expires_in_s: z.int().min(1),
});

export const createJoinToken = adminCommand(newToken, async ({ store, now }, args) => {
  const owner = await resolveMember(store, args.owner);
  const token = newSecret('gwj');
  const at = now();
  const expiresAt = at + args.expires_in_s * 1_000;
  await store.createJoinToken(
    { ownerId: owner.id, name: args.name, hash: hashSecret(token), expiresAt },
    at,
  );
  return { token, owner: owner.email, expires_at: expiresAt };
});
