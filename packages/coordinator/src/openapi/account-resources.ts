/** Members, and the bodies for joining and logging in. */
import * as z from 'zod';
import { PASSWORD_CHARACTERS } from '../core/access/name.js';

const { least, most } = PASSWORD_CHARACTERS;
const name = z.string().min(1).max(64);

export const joining = z.object({
  token: z.string().meta({ description: 'Of the invite, good once: `gwi_…`, or the whole link.' }),
  name: name.meta({ description: 'The public name, which others see.' }),
  password: z.string().min(least).max(most).meta({ description: 'For the dashboard.' }),
  key_name: name.nullish().meta({ description: 'Of a first API key; none is made without it.' }),
});

export const inviteQuestion = joining.pick({ token: true });

export const openInvite = z.object({
  inviter: z
    .string()
    .nullable()
    .meta({ description: 'The public name of who invites; null if it was made on the server.' }),
  network: z.string().nullable().meta({ description: 'That they join; null if none.' }),
  gateway: z.string().meta({ description: 'The origin of this gateway.' }),
  expires_at: z.int().meta({ description: 'Unix seconds.' }),
});

export const logIn = z.object({
  email: z.string().min(1).max(254),
  password: z.string(),
});

export const member = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  key: z.string().optional().meta({ description: 'The first API key, shown this once.' }),
});

export const session = z.object({
  member: z.object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(['member', 'admin']),
    excerpts: z.boolean().meta({ description: 'Whether excerpts of their requests are kept.' }),
  }),
  expires_at: z.int().meta({ description: 'Unix seconds, if it is not used again.' }),
  gateway: z.object({
    version: z.string(),
    agent_version: z
      .string()
      .nullable()
      .meta({ description: 'Of the agent that it hands out; null if it hands out none.' }),
    public_url: z.string().meta({ description: 'Where callers reach this server.' }),
    base_url: z.string().meta({ description: 'For OpenAI clients: with `/v1`.' }),
  }),
});

export const logInMethods = z.object({
  passkey_origin: z
    .string()
    .nullable()
    .meta({ description: 'Whose pages can use passkeys; null if none can.' }),
  oidc: z
    .object({ name: z.string().meta({ description: 'What its button calls it.' }) })
    .nullable()
    .meta({ description: 'The OpenID provider; null if there is none.' }),
});

export const passkeyAnswer = z.object({
  response: z.record(z.string(), z.unknown()).meta({
    description: 'Of `navigator.credentials.get`, as `toJSON` writes it.',
  }),
});

export const passkeyChallenge = z
  .record(z.string(), z.unknown())
  .meta({ description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON`.' });

export const oidcStart = z.object({
  next: z.string().nullish().meta({ description: 'The page to show afterwards: a path.' }),
  token: z.string().nullish().meta({ description: 'Of an invite, or its whole link.' }),
  connect: z
    .boolean()
    .nullish()
    .meta({ description: 'Connects the account to the member who is logged in.' }),
  password: z.string().nullish().meta({ description: 'To connect, if the log-in is not recent.' }),
});

export const oidcUrl = z.object({
  url: z.string().meta({ description: 'Where to send the browser.' }),
});

export const passwordReset = z.object({
  token: z.string().meta({ description: 'Of the link, good once: `gwr_…`, or the whole link.' }),
  password: z.string().min(least).max(most),
});

export const passwordChange = z.object({
  current: z.string().nullish().meta({ description: 'Left out by members without one.' }),
  password: z.string().min(least).max(most),
});

export const setup = z.object({
  token: z.string().meta({ description: 'Of the setup link: `gwf_…`, or the whole link.' }),
  name: name.meta({ description: 'The public name, which others see.' }),
  email: z.string().min(3).max(254),
  password: z.string().min(least).max(most).meta({ description: 'For the dashboard.' }),
});

export const firstAdmin = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.literal('admin'),
});

/** Each command has its own, which `docs/api.md` and `docs/cli.md` describe. */
export const commandArgs = z.record(z.string(), z.unknown());
export const commandResult = z.union([
  z.record(z.string(), z.unknown()),
  z.array(z.record(z.string(), z.unknown())),
]);
