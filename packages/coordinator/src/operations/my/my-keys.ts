import * as z from 'zod';
import {
  createKey,
  disableKey,
  enableKey,
  listKeys,
  renameKey,
  revokeKey,
  rotateKey,
} from '../keys.js';
import { requireRoom } from './caps.js';
import { change, guardedChange, read } from './command.js';
import { ownKey } from './own.js';

export const MY_KEYS = {
  'key.list': read(z.strictObject({}), ({ context, member }) =>
    listKeys.run(context, { user: member.id }),
  ),
  'key.create': change(createKey.args.omit({ user: true }), async ({ context, member }, args) => {
    const keys = await context.store.listKeys(member.id);
    requireRoom('API keys', keys.filter(({ revokedAt }) => revokedAt === null).length);
    return createKey.run(context, { ...args, user: member.id });
  }),
  'key.rename': guardedChange(renameKey, ownKey),
  'key.rotate': guardedChange(rotateKey, ownKey),
  'key.disable': guardedChange(disableKey, ownKey),
  'key.enable': guardedChange(enableKey, ownKey),
  'key.revoke': guardedChange(revokeKey, ownKey),
};
