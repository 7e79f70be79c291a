import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';

/** Invalid arguments: `usage`, with the first invalid one. */
export class ArgumentError extends CommandError {
  readonly field: string;

  constructor(field: string, message: string) {
    super(EXIT.usage, message);
    this.field = field;
  }
}

/** Throws an `ArgumentError` that names each error. */
export function readArgs<Schema extends z.ZodType>(schema: Schema, args: unknown) {
  const read = schema.safeParse(args);
  if (read.success) return read.data;
  // Without the value, which can be a password.
  const faults = read.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  const told = faults
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ');
  throw new ArgumentError(faults[0]?.field ?? '', told);
}

const MAX_LISTED = 500;

const limitRule = ({ input }: { readonly input?: unknown }): string =>
  `a list has 1 to ${MAX_LISTED} rows, not ${String(input)}`;

/** Length of a list of jobs or batches: the same as of a caller's own lists. */
export const listLimit = z
  .int({ error: limitRule })
  .min(1, { error: limitRule })
  .max(MAX_LISTED, { error: limitRule });

/** As on the command line. Far beyond it a time is no valid date, which would break lists. */
const MAX_LIFE_S = 3_650 * 86_400;
const LIFE_RULE = 'it lasts 3650 days at most';

/** Lifetime of a new secret. */
export const lifeSeconds = z.int().min(1).max(MAX_LIFE_S, LIFE_RULE);
