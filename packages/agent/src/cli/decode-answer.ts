/** What the running agent answered on its control socket. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type * as z from 'zod';

/** Throws where it is none of what this program knows. */
export function decodeAnswer<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CommandError(
    EXIT.failure,
    'the running agent answers as another version does: restart it, so that both are one.',
    { cause: parsed.error },
  );
}
