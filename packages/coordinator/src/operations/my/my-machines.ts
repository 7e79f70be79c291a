/** How a member lets a machine of theirs in: by a join token, or by the code that it shows. */
import * as z from 'zod';
import { approveDevice, denyDevice, findDevice } from '../devices.js';
import { createJoinToken, listJoinTokens, revokeJoinToken, tokenFields } from '../join-tokens.js';
import { stateOf } from '../lifecycle.js';
import { requireRoom } from './caps.js';
import { change, guardedChange, read } from './command.js';
import { ownProvider, ownToken, ownTokens } from './own.js';

/** A token that lies about for longer is found by somebody else. */
const MAX_TOKEN_S = 7 * 86_400;
const LIFE_RULE = 'a join token is good for at most 7 days';

const newToken = tokenFields.extend({
  expires_in_s: z.int().min(1).max(MAX_TOKEN_S, LIFE_RULE),
});
const oneCode = z.strictObject({ code: z.string() });

export const MY_MACHINES = {
  'token.list': read(z.strictObject({}), async (mine) => {
    const own = new Set((await ownTokens(mine)).map(({ id }) => id));
    return (await listJoinTokens.run(mine.context, {})).filter(({ id }) => own.has(id));
  }),
  'token.create': change(newToken, async (mine, args) => {
    const { context, member } = mine;
    if (args.replace !== null) await ownProvider(mine, { provider: args.replace });
    const now = context.now();
    const open = (await ownTokens(mine)).filter((token) => stateOf(token, now) === 'open');
    requireRoom('open join tokens', open.length);
    return createJoinToken.run(context, { ...args, owner: member.id });
  }),
  'token.revoke': guardedChange(revokeJoinToken, ownToken),

  // A change, too: a wrong code is counted.
  'device.find': change(oneCode, ({ context, member }, { code }) =>
    findDevice.run(context, { code, owner: member.id }),
  ),
  'device.approve': change(oneCode, ({ context, member }, { code }) =>
    // Whoever is no administrator does not vouch: where providers need approval, it waits for it.
    approveDevice.run(context, { code, owner: member.id, vouches: member.role === 'admin' }),
  ),
  'device.deny': change(oneCode, ({ context }, { code }) => denyDevice.run(context, { code })),
};
