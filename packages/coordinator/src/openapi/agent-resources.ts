/** An agent's own provider, and its shares. */
import * as z from 'zod';
import { SHARE_LIMITS } from '../core/access/sharing.js';

const subject = z.string().min(1).max(SHARE_LIMITS.subjectCharacters).nullish();

export const newAgentShare = z.strictObject({
  network: z.string().min(1).max(64).meta({ description: 'Name or id; the owner must be in it.' }),
  service_id: subject.meta({ description: 'One service of the provider.' }),
  model: subject.meta({ description: 'One model; with neither, all of the provider is shared.' }),
  slots: z.int().min(1).max(SHARE_LIMITS.slots).nullish(),
  hours: z.string().max(64).nullish().meta({ description: 'Only then, as `22:00-07:00`.' }),
  time_zone: z.string().max(64).nullish().meta({ description: 'Of the hours: `Europe/Berlin`.' }),
  max_tokens: z.int().min(1).max(SHARE_LIMITS.tokens).nullish(),
  day: z.string().max(128).nullish(),
  month: z.string().max(128).nullish(),
});

const agentShare = z.object({
  id: z.string(),
  service_id: z.string().nullable(),
  model: z.string().nullable(),
  network: z.string().nullable().meta({ description: 'Null where it is shared with a member.' }),
  member: z.string().nullable(),
  slots: z.int().nullable(),
  hours: z.string().nullable(),
  max_tokens: z.int().nullable(),
  day: z.string().nullable(),
  month: z.string().nullable(),
  created_at: z.int().meta({ description: 'Unix milliseconds.' }),
});

export const sharedNow = agentShare.extend({
  warning: z.string().nullable().meta({ description: 'Why nobody gets anything by it as yet.' }),
});

const amounts = z.object({
  requests: z.int(),
  tokens: z.int(),
  images: z.int(),
  audio_s: z.int(),
  until: z.int().meta({ description: 'End of the period, in Unix milliseconds.' }),
});

export const ownShare = agentShare.extend({
  used: z
    .object({ day: amounts, month: amounts })
    .nullable()
    .meta({ description: 'By all others together; null where there is neither day nor month.' }),
});

export const agentSelf = z.object({
  provider_id: z.string(),
  name: z.string(),
  owner: z.string().meta({ description: 'Public name.' }),
  approved: z.boolean().meta({ description: 'False: no work before an administrator approves.' }),
  draining: z.boolean().meta({ description: 'True: an administrator keeps new work away.' }),
  version: z.string().meta({ description: 'Of the coordinator.' }),
  protocols: z.array(z.string()).meta({ description: 'Of the link, that it speaks.' }),
  server_time: z.int().meta({ description: 'Unix milliseconds.' }),
  networks: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      members: z.int().meta({ description: 'How many, the owner among them.' }),
    }),
  ),
  shares: z.array(ownShare),
});
