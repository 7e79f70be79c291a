/** Passkeys (WebAuthn): what the browser is asked for, and whether its answer is right. */
import { ApiError } from '@inference-gateway/shared/errors';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { isIP } from 'node:net';
import * as z from 'zod';
import type { Member, NewPasskey, Passkey, PasskeyUse } from '../store/port.js';
import type { ChallengePurpose, LogInTokens } from './log-in-tokens.js';

/** Passkeys of one member. */
export const MAX_PASSKEYS = 20;

/** How long somebody may take at the browser's dialog. */
export const CHALLENGE_MS = 5 * 60_000;

const RP_NAME = 'Inference Gateway';

/** The longest credential id that WebAuthn allows has 1,023 bytes. */
const id = z.string().min(1).max(1_400);
/** A key and its attestation, which is not asked for, are far below this. */
const bytes = z.string().min(1).max(32_768);
const rest = {
  id,
  rawId: id,
  type: z.literal('public-key'),
  clientExtensionResults: z.record(z.string(), z.unknown()).default({}),
};

export const registration = z.object({
  ...rest,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(32)).max(8).optional(),
  }),
});

export const assertion = z.object({
  ...rest,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: z.string().max(128).nullish(),
  }),
});

export type Registration = z.output<typeof registration>;
export type Assertion = z.output<typeof assertion>;

/** A passkey that was just made, for the store. */
export type CheckedPasskey = Omit<NewPasskey, 'name' | 'memberId' | 'cap'>;

interface PasskeyParts {
  readonly tokens: LogInTokens;
  /** Called late: the port is known once the server listens. */
  readonly publicUrl: () => string;
}

export class Passkeys {
  readonly #tokens: LogInTokens;
  readonly #publicUrl: () => string;

  constructor({ tokens, publicUrl }: PasskeyParts) {
    this.#tokens = tokens;
    this.#publicUrl = publicUrl;
  }

  /**
   * The only origin whose pages can use passkeys: the public URL, never a header's. Null if no
   * browser allows them there, without TLS or without a name.
   */
  get origin(): string | null {
    const { protocol, hostname, origin } = new URL(this.#publicUrl());
    const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
    const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
    return isLocal || (protocol === 'https:' && !isAddress) ? origin : null;
  }

  /** For a member's new passkey; `known`: those that they have. */
  async askForNew(
    { id: memberId, email, name }: Pick<Member, 'id' | 'email' | 'name'>,
    known: readonly Passkey[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { hostname } = this.#site();
    const { generateRegistrationOptions } = await webauthn();
    return generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: hostname,
      userID: new Uint8Array(Buffer.from(memberId)),
      userName: email,
      userDisplayName: name,
      challenge: this.#tokens.makeChallenge(registrationOf(memberId), CHALLENGE_MS),
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      excludeCredentials: known.map(({ credentialId, transports }) => {
        return { id: credentialId, transports: [...transports] };
      }),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** Null if the answer is not one to a challenge for this member. */
  async checkNew(memberId: string, response: Registration): Promise<CheckedPasskey | null> {
    const spent = this.#spentOf(registrationOf(memberId), response);
    if (spent === null) return null;
    const { origin, hostname } = this.#site();
    const { verifyRegistrationResponse } = await webauthn();
    const checked = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: challengeOf(response),
      expectedOrigin: origin,
      expectedRPID: hostname,
      requireUserVerification: true,
    }).catch(notVerified);
    if (!checked.verified) return null;
    const { id: credentialId, publicKey, counter } = checked.registrationInfo.credential;
    const { transports = [] } = response.response;
    return { credentialId, publicKey, counter, transports, spent };
  }

  /** For a log-in: any passkey that the browser finds for this site. */
  async askForOne(): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await webauthn();
    return generateAuthenticationOptions({
      rpID: this.#site().hostname,
      challenge: this.#tokens.makeChallenge('log-in', CHALLENGE_MS),
      timeout: CHALLENGE_MS,
      userVerification: 'required',
    });
  }

  /** Null if the answer is wrong. The counter must have grown, if the authenticator counts. */
  async checkUse(passkey: Passkey, response: Assertion): Promise<PasskeyUse | null> {
    const spent = this.#spentOf('log-in', response);
    if (spent === null || !isHandleOf(passkey, response)) return null;
    const { origin, hostname } = this.#site();
    const { credentialId, publicKey, counter } = passkey;
    const { verifyAuthenticationResponse } = await webauthn();
    const checked = await verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON,
      expectedChallenge: challengeOf(response),
      expectedOrigin: origin,
      expectedRPID: hostname,
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter },
      requireUserVerification: true,
    }).catch(notVerified);
    if (!checked.verified) return null;
    return { passkeyId: passkey.id, counter: checked.authenticationInfo.newCounter, spent };
  }

  #spentOf(purpose: ChallengePurpose, response: Registration | Assertion) {
    return this.#tokens.judgeChallenge(purpose, challengeOf(response));
  }

  #site(): URL {
    const { origin } = this;
    if (origin !== null) return new URL(origin);
    const message =
      'Passkeys need a public URL with TLS and a name, or localhost. Log in with your password; ' +
      'the operator sets GATEWAY_PUBLIC_URL.';
    throw new ApiError('not_found', message);
  }
}

/** Loaded when it is first needed: many gateways have no passkeys. */
function webauthn() {
  return import('@simplewebauthn/server');
}

function registrationOf(memberId: string): ChallengePurpose {
  return `registration of ${memberId}`;
}

const clientData = z.object({ challenge: z.string() });

/** What the browser has answered, which its signature covers. Empty if it is unreadable. */
function challengeOf({ response }: Registration | Assertion): string {
  try {
    const json: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString());
    return clientData.parse(json).challenge;
  } catch {
    return '';
  }
}

/** The library throws for every answer that is not right. */
function notVerified(): { readonly verified: false } {
  return { verified: false };
}

function isHandleOf({ memberId }: Passkey, { response }: Assertion): boolean {
  const handle = response.userHandle ?? null;
  return handle === null || Buffer.from(handle, 'base64url').toString() === memberId;
}
