import * as z from 'zod';
import { aliasesFor, checkAlias, newAlias, removeAlias, setAlias } from '../aliases.js';
import { change, read } from './command.js';

export const MY_ALIASES = {
  'alias.list': read(z.strictObject({}), ({ context, member }) => aliasesFor(context, member)),
  'alias.set': change(
    newAlias.omit({ user: true }).superRefine(checkAlias),
    ({ context, member }, args) => setAlias.run(context, { ...args, user: member.id }),
  ),
  'alias.remove': change(removeAlias.args.omit({ user: true }), ({ context, member }, args) =>
    removeAlias.run(context, { ...args, user: member.id }),
  ),
};
