/** What a member may do in the console: administrative operations, bound to what is theirs. */
import type * as z from 'zod';
import type { AdminCommand, AdminContext, CommandKind } from '../operation.js';
import type { Member } from '../../store/port.js';

/** Whoever asks, and through which log-in. */
export interface Mine {
  /** Of the administrative operations; what it changes is written down as the member's. */
  readonly context: AdminContext;
  readonly member: Member;
  readonly sessionId: string;
}

export interface MyCommand<Kind extends CommandKind, Schema extends z.ZodType, Result> {
  readonly kind: Kind;
  readonly args: Schema;
  /** Throws a `CommandError`; what is unknown and what is somebody else's look the same. */
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

/** Throws if what the arguments name is not the member's. */
type Guard<Schema extends z.ZodType> = (mine: Mine, args: z.output<Schema>) => Promise<unknown>;

/** The operation as it is, where the guard lets it pass. */
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
