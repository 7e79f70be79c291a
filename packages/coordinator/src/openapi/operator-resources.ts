/** What operators, their monitors and their agents ask for. */
import * as z from 'zod';

export const welcome = z.object({ name: z.literal('inference-gateway'), api: z.literal('/v1') });
export const health = z.object({ status: z.literal('ok') });
export const readiness = z.object({ status: z.literal('ready') });

export const enrollmentRequest = z.object({
  name: z.string().nullish().meta({ description: 'Of the provider, unique to its owner.' }),
});

export const enrollment = z.object({
  provider_id: z.string(),
  name: z.string(),
  token: z.string().meta({ description: "The agent's own token, shown this once." }),
});
