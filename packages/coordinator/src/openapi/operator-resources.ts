/** Resources for operators, monitoring and agents. */
import * as z from 'zod';

export const welcome = z.object({ name: z.literal('inference-gateway'), api: z.literal('/v1') });
export const health = z.object({ status: z.literal('ok') });
export const readiness = z.object({
  status: z.literal('ready'),
  details: z
    .array(z.string())
    .optional()
    .meta({ description: 'What an administrator should look at although calls are served.' }),
});

export const enrollmentRequest = z.object({
  name: z.string().nullish().meta({ description: 'Of the provider, unique to its owner.' }),
});

export const enrollment = z.object({
  provider_id: z.string(),
  name: z.string(),
  token: z.string().meta({ description: "The agent's own token, shown this once." }),
  approved: z.boolean().meta({ description: 'False: no work before an administrator approves.' }),
});

export const deviceLogInRequest = z.object({
  name: z.string().nullish().meta({ description: 'Of the provider, unique to its owner.' }),
  host: z
    .string()
    .min(1)
    .max(64)
    .nullish()
    .meta({ description: 'What the machine calls itself, for the person who approves it.' }),
});

export const deviceLogIn = z.object({
  device_code: z.string().meta({ description: 'The machine keeps it to itself.' }),
  user_code: z.string().meta({ description: 'For a person to type; case and hyphen are free.' }),
  expires_in: z.number().meta({ description: 'Seconds until it is too late to approve.' }),
  interval: z.number().meta({ description: 'Seconds between two requests for the token.' }),
  verification_uri: z.string().meta({ description: 'Where a member types the code.' }),
  verification_uri_complete: z.string().meta({ description: 'The same, with the code typed.' }),
  approve: z.string().meta({ description: 'How it is approved.' }),
});

export const deviceTokenRequest = z.object({ device_code: z.string() });
