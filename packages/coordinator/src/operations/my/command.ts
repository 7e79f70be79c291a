/** What a member may do in the console: administrative operations, bound to what is theirs. */
import type * as z from 'zod';
import type { AdminCommand, AdminContext } from '../operation.js';
import type { Member } from '../../store/port.js';

/** Whoever asks, and through which log-in. */
export interface Mine {
  /** Of the administrative operations; what it changes is written down as the member's. */
  readonly context: AdminContext;
  readonly member: Member;
  readonly sessionId: string;
}

export interface MyCommand<Kind extends 'read' | 'change', Schema extends z.ZodType, Result> {
  /** Reads are asked by GET, changes by POST. */
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

/** Throws where what the arguments name is not the member's. */
type Guard<Schema extends z.ZodType> = (mine: Mine, args: z.output<Schema>) => Promise<unknown>;

/** The operation as it is, where the guard lets it pass. */
export function guardedRead<Schema extends z.ZodType, Result>(
  operation: AdminCommand<Schema, Result>,
  guard: Guard<Schema>,
) {
  return read(operation.args, passing(operation, guard));
}

export function guardedChange<Schema extends z.ZodType, Result>(
  operation: AdminCommand<Schema, Result>,
  guard: Guard<Schema>,
) {
  return change(operation.args, passing(operation, guard));
}

function passing<Schema extends z.ZodType, Result>(
  operation: AdminCommand<Schema, Result>,
  guard: Guard<Schema>,
): Run<Schema, Result> {
  return async (mine, args) => {
    await guard(mine, args);
    return operation.run(mine.context, args);
  };
}
