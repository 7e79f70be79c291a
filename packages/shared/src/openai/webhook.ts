/** The `webhook` of a submission, which is called when the job or batch has ended. */
import * as z from 'zod';
import { check } from './check.js';

const MAX_URL_CHARACTERS = 2_048;
/** By Standard Webhooks: shorter ones can be guessed, and longer ones are no stronger. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** Standard alphabet and padding, which all libraries decode in the same way. */
const SECRET_PATTERN = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

const SECRET_RULE =
  `it must be whsec_ and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes, ` +
  'which `openssl rand -base64 32` prints';
const ADDRESS_RULE = 'it must be a whole http or https address, such as https://example.org/hook';

/** Replaces secrets in messages. */
const HIDDEN = '…';

const url = z
  .string()
  .check((given) => {
    const message = urlFault(given.value);
    if (message === null) return;
    given.issues.push({ code: 'custom', message, input: withoutSecrets(given.value) });
  })
  .meta({
    description: 'An http or https address without user name, password and fragment.',
    maxLength: MAX_URL_CHARACTERS,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^#]+$',
  });

const secret = z
  .string()
  .check((given) => {
    if (isSecret(given.value)) return;
    given.issues.push({ code: 'custom', message: SECRET_RULE, input: HIDDEN });
  })
  .meta({
    description: 'Signs what is sent, as Standard Webhooks has it. It is never shown again.',
    pattern: SECRET_PATTERN.source,
  });

/** A URL or a secret instead of the object is not repeated either. */
export const webhookSchema = z.preprocess(
  (value) => (typeof value === 'string' ? HIDDEN : value),
  z.object(
    { url, secret: z.preprocess((value) => (isAbsentOrText(value) ? value : HIDDEN), secret) },
    'it must be an object with url and secret',
  ),
);

export type WebhookTarget = z.infer<typeof webhookSchema>;

const holder = z.object({ webhook: webhookSchema.nullish() });

/**
 * Checks the value of a body's `webhook`; absent ones are null. Throws an `ApiError` that names
 * `webhook.url` or `webhook.secret` and never repeats the secret.
 */
export function parseWebhook(value: unknown): WebhookTarget | null {
  return check(holder, { webhook: value }).webhook ?? null;
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function urlFault(written: string): string | null {
  const { length } = written;
  if (length > MAX_URL_CHARACTERS) {
    return `it has ${length} characters, and at most ${MAX_URL_CHARACTERS} are kept`;
  }
  if (!/^https?:\/\/[^\s\\]+$/i.test(written) || !URL.canParse(written)) return ADDRESS_RULE;
  const { username, password } = new URL(written);
  if (username !== '' || password !== '') {
    return 'it must hold no user name or password: receivers know a webhook by its signature';
  }
  return written.includes('#') ? 'it must hold no #fragment, which is never sent' : null;
}

/** Paths and queries may contain tokens, and the part before an @ a password. */
function withoutSecrets(written: string): string {
  if (!URL.canParse(written)) return written.includes('@') ? HIDDEN : written;
  const { protocol, host } = new URL(written);
  return `${protocol}//${host}/${HIDDEN}`;
}

function isSecret(written: string): boolean {
  const base64 = SECRET_PATTERN.exec(written)?.[1];
  if (base64 === undefined) return false;
  const bytes = (base64.length / 4) * 3 - (base64.match(/=/g)?.length ?? 0);
  return bytes >= MIN_SECRET_BYTES && bytes <= MAX_SECRET_BYTES;
}
