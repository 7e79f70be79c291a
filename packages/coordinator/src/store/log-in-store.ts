/** The part of the store's port for ways to log in besides the password. */
import type { MemberSession, NewMemberSession, Role } from './member-store.js';
import type { CapReached } from './outcomes.js';

export interface Passkey {
  readonly id: string;
  readonly memberId: string;
  /** As its owner calls it. */
  readonly name: string;
  /** Base64url. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Uint8Array;
  /** Of its uses; 0: it does not count them. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface NewPasskey extends Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'> {
  /** Refused as `full` if the member has this many. */
  readonly cap: number;
  readonly spent: SpentChallenge;
}

/** A challenge that counts once, whichever coordinator made it. */
export interface SpentChallenge {
  /** SHA-256. */
  readonly hash: string;
  readonly expiresAt: number;
}

/** An account of an OpenID provider. */
export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider last told it. */
  readonly email: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface LogInMethods {
  readonly hasPassword: boolean;
  readonly passkeys: readonly Passkey[];
  readonly identities: readonly OidcIdentity[];
}

/** The session without its proof. */
export type SessionOfBrowser = Omit<NewMemberSession, 'memberId' | 'passwordHash' | 'method'>;

export interface PasskeyUse {
  readonly passkeyId: string;
  /** After this use. */
  readonly counter: number;
  readonly spent: SpentChallenge;
}

/** Somebody whom an OpenID provider has named. */
export interface OidcArrival {
  readonly issuer: string;
  readonly subject: string;
  /** Null if there is none, or the provider has not verified it. */
  readonly email: string | null;
  /** Names for a new member; the first that is free is taken. */
  readonly names: readonly string[];
  /** The role that the provider's claim gives; null: roles are not its business. */
  readonly role: Role | null;
  /** Hash of the secret of an invite. */
  readonly inviteHash: string | null;
  /** Whether the address alone makes them a member. */
  readonly isOfDomain: boolean;
  readonly spent: SpentChallenge;
}

/**
 * `unknown`: nobody has connected this account, and nothing lets it in; `invite`: the invite is not
 * good; `taken`: a member has the address already, and has to connect the account themselves.
 */
export type OidcRefusal = 'unknown' | 'invite' | 'taken' | 'disabled' | 'spent';

export type OidcOutcome =
  | { readonly kind: 'in'; readonly session: MemberSession; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly reason: OidcRefusal };

export interface OidcConnection extends Pick<OidcArrival, 'issuer' | 'subject' | 'email'> {
  readonly memberId: string;
  readonly spent: SpentChallenge;
}

/** `last`: the member could not log in any more. */
export type Removed = 'removed' | 'unknown' | 'last';

export interface NewPasswordReset {
  readonly hash: string;
  readonly memberId: string;
  readonly expiresAt: number;
}

export interface LogInStore {
  /** Null if the member is unknown. */
  logInMethods(memberId: string): Promise<LogInMethods | null>;

  /** `spent`: the challenge was used before; `known`: this passkey is somebody's already. */
  addPasskey(
    passkey: NewPasskey,
    now: number,
  ): Promise<{ readonly kind: 'added' | 'spent' | 'known' | 'unknown' } | CapReached>;
  /** Null if there is none, or its member is disabled. */
  findPasskey(credentialId: string): Promise<Passkey | null>;
  /** False if it is not the member's. */
  renamePasskey(memberId: string, id: string, name: string): Promise<boolean>;
  removePasskey(memberId: string, id: string): Promise<Removed>;
  /**
   * Records the use, and logs in. Null if the challenge was used before, the passkey has counted
   * further meanwhile or is gone, or its member is disabled.
   */
  logInByPasskey(
    use: PasskeyUse,
    session: SessionOfBrowser,
    now: number,
  ): Promise<MemberSession | null>;

  /**
   * Logs in the member whose account it is; makes a new member if an invite or the domain allows
   * it. The role follows the claim, except that the last administrator keeps theirs.
   */
  logInByOidc(arrival: OidcArrival, session: SessionOfBrowser, now: number): Promise<OidcOutcome>;
  /** `taken`: it is another member's; `other`: the member has another account there. */
  connectOidc(
    connection: OidcConnection,
    now: number,
  ): Promise<'connected' | 'taken' | 'other' | 'spent'>;
  disconnectOidc(memberId: string, issuer: string): Promise<Removed>;

  /** Ends an earlier link of the member. False if the member is unknown or disabled. */
  createPasswordReset(reset: NewPasswordReset, now: number): Promise<boolean>;
  /** Uses the link up; all sessions end. Null if it is not good, or its member is disabled. */
  resetPassword(
    reset: { readonly hash: string; readonly passwordHash: string },
    now: number,
  ): Promise<{ readonly memberId: string } | null>;
  /** When a link last set the member's password; null if none has for a week. */
  lastPasswordReset(memberId: string, now: number): Promise<number | null>;
}
