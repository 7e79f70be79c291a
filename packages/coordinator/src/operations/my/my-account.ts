import * as z from 'zod';
import { renameUser } from '../members.js';
import { endSessions, listSessions } from '../sessions.js';
import { change, guardedChange, read } from './command.js';
import { ownSession } from './own.js';

export const MY_ACCOUNT = {
  'user.rename': change(renameUser.args.omit({ member: true }), ({ context, member }, { name }) =>
    renameUser.run(context, { member: member.id, name }),
  ),
  'user.sessions': read(z.strictObject({}), async ({ context, member, sessionId }) => {
    const sessions = await listSessions.run(context, { member: member.id });
    return sessions.map((session) => ({ ...session, current: session.id === sessionId }));
  }),
  'user.logout': guardedChange(endSessions, ownSession),
};
