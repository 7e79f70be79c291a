/** A member's operations in the dashboard: administrative operations, limited to their own data. */
import type * as z from 'zod';
import type { AdminCommand, AdminContext, CommandKind } from '../operation.js';
import type { Passkeys } from '../../accounts/passkeys.js';
import type { Member } from '../../store/port.js';

/** The member and their session. */
export interface Mine {
  /** Context of the administrative operations; changes are logged with the member as actor. */
  readonly context: AdminContext;
  readonly member: Member;
  readonly sessionId: string;
  readonly passkeys: Passkeys;
  /** Throws if the log-in is not recent, and the password is missing (null) or wrong. */
  readonly prove: (password: string | null) => Promise<void>;
}

export interface MyCommand<Kind extends CommandKind, Schema extends z.ZodType, Result> {
  readonly kind: Kind;
  readonly args: Schema;
  /** Throws a `CommandError`; unknown resources and those of others cause the same error. */
  readonly run: (mine: Mine, args: z.output<Schema>) => Promise<Result>;
}

type Run<Schema extends z.ZodType, Result> = MyCommand<'read', Schema, Result>['run'];

export function read<Schema extends z.ZodType, Result>(
  args: Schema,
  run: Run<Schema, Result>,
): MyCommand<'read', Schema, Result> {
  return { kind: 'read', args, run };
}

export function change<Schema extends z.ZodType, Result>(
  args: Schema,
  run: Run<Schema, Result>,
): MyCommand<'change', Schema, Result> {
  return { kind: 'change', args, run };
}

/** Throws if the arguments refer to something that is not the member's. */
type Guard<Schema extends z.ZodType> = (mine: Mine, args: z.output<Schema>) => Promise<unknown>;

/** The operation itself, after its guard. */
export function guarded<Kind extends CommandKind, Schema extends z.ZodType, Result>(
  { kind, args, run }: AdminCommand<Kind, Schema, Result>,
  guard: Guard<Schema>,
): MyCommand<Kind, Schema, Result> {
  return {
    kind,
    args,
    run: async (mine, given) => {
      await guard(mine, given);
      return run(mine.context, given);
    },
  };
}
