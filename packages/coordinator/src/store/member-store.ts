/** The part of the store's port for people: members, invites, and sessions. */
import type { MemberLimits } from '../core/access/caller.js';
import type { QuotaChange } from '../core/usage/quota.js';
import type { CapReached, Created, NameTaken } from './outcomes.js';

export type Role = 'member' | 'admin';

export interface Member {
  readonly id: string;
  readonly email: string;
  /** Public name; unique, like the address. */
  readonly name: string;
  readonly role: Role;
  readonly limits: MemberLimits;
  readonly createdAt: number;
  readonly disabledAt: number | null;
  /** Whether they can log in to the dashboard. */
  readonly hasPassword: boolean;
  /** Whether excerpts of their requests are kept. */
  readonly keepsExcerpts: boolean;
}

export interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** scrypt, or null for a member who cannot log in to the dashboard yet. */
  readonly passwordHash: string | null;
}

/** Absent fields stay as they are. */
export interface MemberChange {
  readonly name?: string;
  readonly role?: Role;
  /** A disabled member sees nothing, and their sessions have ended. */
  readonly disabled?: boolean;
  /** Ends every session of the member. */
  readonly passwordHash?: string;
  /** If given: a member with another password counts as unknown. Null: they must have none. */
  readonly formerPasswordHash?: string | null;
}

/** Absent fields stay as they are; an empty day or month has no limit. */
export type MemberLimitChange = Partial<Omit<MemberLimits, 'quota'>> & QuotaChange;

/** What is deleted with a member. */
export interface MemberHoldings {
  readonly keys: number;
  readonly sessions: number;
  readonly passkeys: number;
  /** Accounts of OpenID providers. */
  readonly identities: number;
  readonly invites: number;
  readonly deviceLogins: number;
  readonly joinTokens: number;
  readonly jobsQueued: number;
  readonly jobsRunning: number;
  readonly jobsEnded: number;
  readonly batches: number;
  readonly assets: number;
  readonly assetBytes: number;
  /** Names of their providers, and of the networks that they own. */
  readonly providers: readonly string[];
  readonly networks: readonly string[];
  /** The number of others' networks that they are in. */
  readonly memberships: number;
  readonly sharesGiven: number;
  readonly sharesReceived: number;
  readonly blocks: number;
  readonly aliases: number;
  /** Webhooks that are still to be sent. */
  readonly webhooks: number;
  /** Usage rows, which are kept without a name. */
  readonly usageRows: number;
}

export type DeletedMember =
  | {
      readonly kind: 'deleted';
      readonly holdings: MemberHoldings;
      /** Assets whose rows are deleted: their files remain to be deleted. */
      readonly assetIds: readonly string[];
    }
  | { readonly kind: 'unknown' }
  /** There would be no administrator left. */
  | { readonly kind: 'last_admin' };

export type Changed<T> =
  { readonly kind: 'changed'; readonly value: T } | { readonly kind: 'unknown' } | NameTaken;

/** A single-use invite for one e-mail address. */
export interface Invite {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** The network that the new member joins. */
  readonly networkId: string | null;
  readonly networkName: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

export interface NewInvite {
  readonly hash: string;
  readonly email: string;
  readonly role: Role;
  readonly networkId: string | null;
  readonly expiresAt: number;
  /** The inviting member. Null or absent: an administrator, without limits. */
  readonly inviter?: Inviter | null;
}

/** A member who invites people into networks of their own. */
export interface Inviter {
  readonly memberId: string;
  /** Refused as `full` if this many invites into their networks are open. */
  readonly cap: number;
}

/** The new member, without what the invite defines. */
export interface Acceptance {
  /** Hash of the invite's secret. */
  readonly hash: string;
  readonly name: string;
  /** Null for a member who logs in another way. */
  readonly passwordHash: string | null;
}

/** How somebody has logged in. */
export type LogInMethod = 'password' | 'passkey' | 'oidc';

/** A session: the log-in of a browser. */
export interface MemberSession {
  readonly id: string;
  readonly memberId: string;
  readonly memberName: string;
  /** The client's address at its last use. */
  readonly address: string;
  /** The browser's user agent, at most 256 characters. */
  readonly userAgent: string;
  readonly method: LogInMethod;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

export interface NewMemberSession {
  readonly hash: string;
  readonly memberId: string;
  /** Absent: by password. */
  readonly method?: LogInMethod;
  /** Hash of the checked password: the member must still have it. Null for other methods. */
  readonly passwordHash: string | null;
  readonly address: string;
  readonly userAgent: string;
  readonly expiresAt: number;
}

/** Why an invite is invalid; that of a disabled member is valid again once they are enabled. */
export type InviteRefusal = 'unknown' | 'used' | 'expired' | 'revoked' | 'of a disabled member';

/** An open invite, as the person who has its link may see it. */
export interface OpenInvite {
  /** The public name of the member who made it; null: it was made on the server. */
  readonly inviterName: string | null;
  readonly networkName: string | null;
  readonly expiresAt: number;
}

/** What a member has done of the first steps; the others are known from their other data. */
export interface FirstSteps {
  readonly hasShared: boolean;
  /** Invited somebody, or has somebody in a network of their own. */
  readonly hasInvited: boolean;
  /** Unix ms; null: the checklist is shown until all is done. */
  readonly checklistClosedAt: number | null;
}

export interface MemberStore {
  /** The only token of a member's feed; null ends it. False if there is nothing to end. */
  setFeed(memberId: string, hash: string | null, now: number): Promise<boolean>;
  /** The enabled member whose feed has this token. */
  findFeedOwner(hash: string): Promise<Member | null>;
  /** When the token was made; null: the member has no feed. */
  feedMadeAt(memberId: string): Promise<number | null>;

  createMember(member: NewMember, now: number): Promise<Created<Member>>;
  /**
   * Creates an administrator if there is no member yet, who owns a network `friends`;
   * else null.
   */
  createFirstMember(member: Omit<NewMember, 'role'>, now: number): Promise<Member | null>;
  /** For the home screen. */
  firstSteps(memberId: string): Promise<FirstSteps>;
  /** `at`: Unix ms; null shows it again. */
  closeChecklist(memberId: string, at: number | null): Promise<void>;
  /** Finds by id, e-mail address or public name. */
  findMember(reference: string): Promise<Member | null>;
  listMembers(): Promise<readonly Member[]>;
  changeMember(id: string, change: MemberChange, now: number): Promise<Changed<Member>>;
  /** Null if the member is unknown. */
  memberHoldings(id: string): Promise<MemberHoldings | null>;
  /** Deletes ended jobs with their webhooks; returns their number. */
  deleteMemberJobs(id: string, limit: number): Promise<number>;
  /**
   * Deletes the member and everything of theirs, in one transaction; jobs that have not ended are
   * canceled. Usage is kept under the id, and the member's names are removed from the audit log.
   */
  deleteMember(id: string, now: number): Promise<DeletedMember>;
  /**
   * Applies from the member's next request on; limits that are not given stay as they were. False
   * if the member is unknown.
   */
  setMemberLimits(memberId: string, limits: MemberLimitChange): Promise<boolean>;

  /**
   * Revokes open invites of the same address. `taken` if a member has the address; `invited` if the
   * inviter may not revoke one of those invites.
   */
  createInvite(
    invite: NewInvite,
    now: number,
  ): Promise<Created<Invite> | CapReached | { readonly kind: 'invited' }>;
  /** The newest first. */
  listInvites(): Promise<readonly Invite[]>;
  /** Null if `acceptInvite` would refuse it. */
  findInvite(hash: string, now: number): Promise<OpenInvite | null>;
  /** False if it is unknown, used or revoked. */
  revokeInvite(id: string, now: number): Promise<boolean>;
  /** Creates the member, who joins the invite's network, and uses up the invite: all or nothing. */
  acceptInvite(
    acceptance: Acceptance,
    now: number,
  ): Promise<Created<Member> | { readonly kind: 'refused'; readonly reason: InviteRefusal }>;

  /** For a log-in; null if no enabled member with a password has the address. */
  findPassword(email: string): Promise<{
    readonly member: Member;
    readonly passwordHash: string;
  } | null>;
  /** Null if the member's password has changed meanwhile, or the member is disabled. */
  createSession(session: NewMemberSession, now: number): Promise<MemberSession | null>;
  /**
   * Null if it is unknown or expired, or its member is disabled. Records its use, at most once a
   * minute, which extends it by its full lifetime.
   */
  useSession(
    hash: string,
    address: string,
    now: number,
  ): Promise<{ readonly session: MemberSession; readonly member: Member } | null>;
  /** Sessions that have not expired; a null member: of all members. */
  listSessions(memberId: string | null, now: number): Promise<readonly MemberSession[]>;
  /** Ends one by its id, or all of a member; returns their number. Deletes expired ones, too. */
  endSessions(
    which: { readonly id: string } | { readonly memberId: string },
    now: number,
  ): Promise<number>;
}
