/** Ways to log in besides the password: passkeys, and an OpenID provider. */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { useEffect, useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Fault } from '../../api/fault.js';
import { CONSOLE, postJson, requestJson } from '../../api/request.js';
import { SESSION, loadSession, tellTabs } from '../../api/session.js';

export interface OfferedMethods {
  /** The only origin whose pages can use passkeys; null if none can. */
  readonly passkey_origin: string | null;
  readonly oidc: { readonly name: string } | null;
}

const NONE: OfferedMethods = { passkey_origin: null, oidc: null };

/** Null until they are known; without an answer there is the password alone. */
export function useLogInMethods(): OfferedMethods | null {
  const [offered, setOffered] = useState<OfferedMethods | null>(null);
  useEffect(() => {
    requestJson<OfferedMethods>(`${CONSOLE}/log-in`).then(setOffered, () => setOffered(NONE));
  }, []);
  return offered;
}

/** Whether this browser, on this page, can use passkeys. */
export function hasPasskeys(offered: OfferedMethods | null): boolean {
  const isHere = offered !== null && offered.passkey_origin === location.origin;
  return isHere && isSecureContext && 'PublicKeyCredential' in window;
}

/** Throws a `Fault`. */
export async function logInByPasskey(): Promise<void> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = await postJson<PublicKeyCredentialRequestOptionsJSON>(
    `${CONSOLE}/passkey/challenge`,
    {},
  );
  const response = await startAuthentication({ optionsJSON }).catch(explain);
  await postJson(`${SESSION}/passkey`, { response });
  tellTabs();
  await loadSession();
}

interface NewPasskey {
  readonly name: string;
  /** Null: the log-in is recent. */
  readonly password: string | null;
}

/** Throws a `Fault`: `proof_required` if the log-in is not recent and there is no password. */
export async function addPasskey({ name, password }: NewPasskey): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const optionsJSON = await my('passkey.challenge', { password });
  const made = await startRegistration({ optionsJSON }).catch(explain);
  const { id, rawId, clientExtensionResults } = made;
  const { clientDataJSON, attestationObject, transports } = made.response;
  const response = {
    id,
    rawId,
    type: 'public-key' as const,
    clientExtensionResults: { ...clientExtensionResults },
    response: { clientDataJSON, attestationObject, ...(transports && { transports }) },
  };
  await my('passkey.add', { name, response });
}

/** The browser's own messages are for developers. */
function explain(error: unknown): never {
  const name = error instanceof Error ? error.name : '';
  throw new Fault(
    name === 'InvalidStateError'
      ? 'This device has a passkey for your account already.'
      : 'No passkey was used: the browser has none for this gateway, or it was canceled.',
  );
}

interface Start {
  /** The page to show afterwards. */
  readonly next?: string;
  /** Of an invite. */
  readonly token?: string;
  /** Connects an account to the member who is logged in. */
  readonly connect?: true;
  readonly password?: string | null;
}

/** Leaves the page for the provider's. Throws a `Fault`. */
export async function goToProvider(start: Start): Promise<void> {
  const { url } = await postJson<{ readonly url: string }>(`${CONSOLE}/oidc/start`, start);
  location.assign(url);
}

/** Why somebody came back from the provider without being logged in. */
const PROBLEMS: Readonly<Record<string, string>> = {
  expired: 'That log-in took too long, or began in another browser or tab. Try again.',
  denied: 'The log-in was canceled, or your account there may not use this gateway.',
  unreachable: 'The log-in service does not answer now. Try again, or use your password.',
  invalid: 'The log-in service gave an answer that cannot be trusted. Try again; tell an admin.',
  spent: 'That log-in was used already. Try again.',
  unknown:
    'That account belongs to no member here. With a password, log in and connect it under ' +
    'Settings, Security; else ask an admin for an invite.',
  invite: 'The invite is used, revoked or expired. Ask for another.',
  taken:
    'A member has that e-mail address already. Log in as before, and connect the account under ' +
    'Settings, Security.',
  disabled: 'Your account here is disabled. Ask an admin.',
  connected_elsewhere: 'That account belongs to another member here.',
  other_account: 'You have connected another account already. Disconnect it first.',
  too_many: 'Too many failed log-ins in a row. Wait a while, and try again.',
};

/** Null if the address names none that is known. */
export function problemText(problem: string | undefined): string | null {
  const isKnown = problem !== undefined && Object.hasOwn(PROBLEMS, problem);
  return isKnown ? (PROBLEMS[problem] ?? null) : null;
}
