/**
 * Log-in at an OpenID provider (Authorization Code with PKCE, state and nonce). The state of a
 * log-in is in an encrypted cookie; the library is loaded when somebody first logs in this way.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { Configuration, IDToken } from 'openid-client';
import { isLoopback } from '@inference-gateway/shared/loopback';
import * as z from 'zod';
import { NAME_PATTERN } from '../core/access/name.js';
import type { OidcArrival, Role } from '../store/port.js';
import { emailAddress } from './email-address.js';
import type { LogInTokens } from './log-in-tokens.js';

/** How long somebody may take at the provider. */
export const OIDC_MS = 10 * 60_000;

/** Each request to the provider. */
export const OIDC_TIMEOUT_S = 10;

/** After this time its discovery document is read again. */
const DISCOVERY_MS = 60 * 60_000;

/** The provider sends browsers back to this path of the public URL. */
export const OIDC_CALLBACK = '/api/oidc/callback';

/** The settings of one provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: the provider asks for none, because of PKCE. */
  readonly clientSecret: string | null;
  /** On the button. */
  readonly name: string;
  readonly scopes: string;
  /** In lower case: verified addresses there need no invite. */
  readonly domains: readonly string[];
  /** A person with this claim and value is an administrator; null: nobody by a claim. */
  readonly admin: { readonly claim: string; readonly value: string } | null;
}

export interface OidcParts {
  readonly tokens: LogInTokens;
  /** Called late: the port is known once the server listens. */
  readonly publicUrl: () => string;
  readonly logger: Logger;
  /** Unix ms. */
  readonly now: () => number;
}

/** What a log-in is for. */
export interface OidcGoal {
  /** The page of the gateway that is shown afterwards. */
  readonly next: string;
  /** Hash of an invite's secret. */
  readonly inviteHash: string | null;
  /** The member who connects an account; null: somebody logs in. */
  readonly memberId: string | null;
}

const flow = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  expiresAt: z.number(),
  next: z.string(),
  inviteHash: z.string().nullable(),
  memberId: z.string().nullable(),
});

export type OidcFlow = z.output<typeof flow>;

/**
 * Why nobody is logged in. `expired`: it took too long, or began in another browser; `denied`: the
 * person or the provider refused; `unreachable`: the provider does not answer; `invalid`: its
 * answer is not right.
 */
export type OidcFault = 'expired' | 'denied' | 'unreachable' | 'invalid';

type Finished =
  | { readonly kind: 'arrived'; readonly arrival: OidcArrival }
  | { readonly kind: 'failed'; readonly fault: OidcFault };

interface Discovered {
  readonly configuration: Configuration;
  readonly at: number;
}

export class Oidc {
  readonly settings: OidcSettings;
  readonly #parts: OidcParts;
  #discovered: Discovered | null = null;

  constructor(settings: OidcSettings, parts: OidcParts) {
    this.settings = settings;
    this.#parts = parts;
  }

  /** The URL to send the browser to, and its cookie. Null if the provider does not answer. */
  async begin(goal: OidcGoal): Promise<{ readonly url: string; readonly sealed: string } | null> {
    const client = await import('openid-client');
    const configuration = await this.#discover().catch((error: unknown) => this.#report(error));
    if (typeof configuration === 'string') return null;
    const verifier = client.randomPKCECodeVerifier();
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#callback().href,
      scope: this.settings.scopes,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    const expiresAt = this.#parts.now() + OIDC_MS;
    const kept: OidcFlow = { ...goal, state, nonce, verifier, expiresAt };
    return { url: url.href, sealed: this.#parts.tokens.seal(kept) };
  }

  /** What a cookie says; null if it is missing, changed or over. */
  read(sealed: string | null): OidcFlow | null {
    const read = flow.safeParse(sealed === null ? null : this.#parts.tokens.unseal(sealed));
    return read.success && read.data.expiresAt > this.#parts.now() ? read.data : null;
  }

  /** `search`: the query of the callback, as the browser brought it. */
  async finish(begun: OidcFlow, search: string): Promise<Finished> {
    const url = this.#callback();
    url.search = search;
    // Before the provider is asked: the answer is to another log-in than this browser's last one.
    if (url.searchParams.get('state') !== begun.state) return { kind: 'failed', fault: 'expired' };
    try {
      const claims = await this.#claims(begun, url);
      return { kind: 'arrived', arrival: this.#arrivalOf(begun, claims) };
    } catch (error) {
      return { kind: 'failed', fault: this.#report(error) };
    }
  }

  async #claims(begun: OidcFlow, url: URL): Promise<Claims> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const tokens = await client.authorizationCodeGrant(configuration, url, {
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      pkceCodeVerifier: begun.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    if (!this.#needsMore(claims, configuration)) return claims;
    const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    // An address and whether it is verified come from one place.
    const { email, email_verified } = isToldBy(claims) ? claims : more;
    return { ...more, ...claims, email, email_verified };
  }

  /** Some providers tell claims only when they are asked for them. */
  #needsMore(claims: IDToken, configuration: Configuration): boolean {
    const { admin } = this.settings;
    const isAsked = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const isComplete = admin === null || claims[admin.claim] !== undefined;
    return isAsked && !(isComplete && isToldBy(claims));
  }

  #arrivalOf({ state, expiresAt, inviteHash }: OidcFlow, claims: Claims): OidcArrival {
    const { domains, admin } = this.settings;
    const email = verifiedEmail(claims);
    const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
    return {
      // The library has compared it with the discovery document.
      issuer: claims.iss,
      subject: claims.sub,
      email,
      names: namesOf(claims),
      role: admin === null ? null : roleOf(claims[admin.claim], admin.value),
      inviteHash,
      isOfDomain: domain !== undefined && domains.includes(domain),
      spent: { hash: hashSecret(state), expiresAt },
    };
  }

  async #discover(): Promise<Configuration> {
    const { now } = this.#parts;
    if (this.#discovered !== null && now() - this.#discovered.at < DISCOVERY_MS) {
      return this.#discovered.configuration;
    }
    const configuration = await discoverProvider(this.settings);
    this.#discovered = { configuration, at: now() };
    return configuration;
  }

  #callback(): URL {
    return new URL(OIDC_CALLBACK, this.#parts.publicUrl());
  }

  /** The log has the reason, without what the provider says about anybody. */
  #report(error: unknown): OidcFault {
    const fault = faultOf(error);
    const { issuer } = this.settings;
    this.#parts.logger.warn({ issuer, fault, reason: reasonOf(error) }, 'OpenID log-in failed');
    return fault;
  }
}

/** Reads the discovery document. Throws if the provider does not answer, or is another one. */
export async function discoverProvider(settings: OidcSettings): Promise<Configuration> {
  const client = await import('openid-client');
  const { issuer, clientId, clientSecret } = settings;
  const url = new URL(issuer);
  const options = {
    timeout: OIDC_TIMEOUT_S,
    // The configuration permits http for loopback addresses only.
    ...(isLoopback(url.hostname) && { execute: [client.allowInsecureRequests] }),
  };
  if (clientSecret === null) {
    return client.discovery(url, clientId, undefined, client.None(), options);
  }
  const found = await client.discovery(url, clientId, clientSecret, undefined, options);
  const server = found.serverMetadata();
  // OpenID Connect Discovery 1.0, section 3: if it names none, it takes this one.
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (methods.includes('client_secret_post')) return found;
  const basic = client.ClientSecretBasic(clientSecret);
  const configuration = new client.Configuration(server, clientId, clientSecret, basic);
  configuration.timeout = OIDC_TIMEOUT_S;
  if (isLoopback(url.hostname)) client.allowInsecureRequests(configuration);
  return configuration;
}

/** `unknown`: not all providers keep to the types of the specification. */
interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly [claim: string]: unknown;
}

function isToldBy(claims: IDToken): boolean {
  return claims['email'] !== undefined && claims['email_verified'] !== undefined;
}

/** Only a boolean counts: a provider that does not say so has not verified it. */
function verifiedEmail(claims: Claims): string | null {
  const read = emailAddress.safeParse(claims['email']);
  return claims['email_verified'] === true && read.success ? read.data : null;
}

function roleOf(claim: unknown, value: string): Role {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.some((one) => isText(one) && String(one) === value) ? 'admin' : 'member';
}

function isText(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Leaves room for `-20` in a name of 64. */
const MAX_STEM = 60;
const NUMBERED_NAMES = 20;

/** From the provider's name for them, else from their address. They can change it. */
function namesOf(claims: Claims): readonly string[] {
  const email = claims['email'];
  const local = typeof email === 'string' ? email.slice(0, email.lastIndexOf('@')) : null;
  const stem =
    [claims['name'], claims['preferred_username'], local, claims.sub]
      .flatMap((one) => (typeof one === 'string' ? one.trim().slice(0, MAX_STEM).trim() : []))
      .find((one) => NAME_PATTERN.test(one)) ?? 'member';
  const numbers = Array.from({ length: NUMBERED_NAMES - 1 }, (_, index) => `${stem}-${index + 2}`);
  return [stem, ...numbers];
}

const UNREACHABLE = ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'];

function faultOf(error: unknown): OidcFault {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'AuthorizationResponseError') return 'denied';
  const isSilent = UNREACHABLE.includes(code ?? '') || message === 'fetch failed';
  return isSilent ? 'unreachable' : 'invalid';
}

const MAX_REASON = 200;

/** An OAuth error code, or what the library or Node says. */
function reasonOf(error: unknown): string {
  const { error: told, code, message } = error as Record<string, unknown>;
  return [told, code, message]
    .filter((one) => typeof one === 'string')
    .join(': ')
    .slice(0, MAX_REASON);
}
