/** The error object, wherever it stands: an answer, an event of a stream, a failed job. */
import { ERRORS } from '@inference-gateway/shared/errors';
import * as z from 'zod';

const types = [...new Set(Object.values(ERRORS).map(({ type }) => type))];

export const errorDetail = z.object({
  message: z.string().meta({ description: 'What failed, with which value, and what to do.' }),
  type: z.enum(types),
  code: z.enum(Object.keys(ERRORS)),
  param: z.string().nullable().meta({ description: 'The field at fault.' }),
});

export const errorBody = z.object({ error: errorDetail });
