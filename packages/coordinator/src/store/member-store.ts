/** The part of the store's port that is about people: members, invites, and their log-ins. */
import type { MemberLimits } from '../core/access/caller.js';
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
}

export interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** scrypt, or null for a member who cannot log in to the dashboard yet. */
  readonly passwordHash: string | null;
}

/** What is absent stays as it is. */
export interface MemberChange {
  readonly name?: string;
  readonly role?: Role;
  /** A disabled member sees nothing, and their sessions have ended. */
  readonly disabled?: boolean;
  /** Ends every session of the member. */
  readonly passwordHash?: string;
  /** Where it is given: who has another password, or none, is unknown. */
  readonly formerPasswordHash?: string;
}

/** What goes with a member. */
export interface MemberHoldings {
  readonly keys: number;
  readonly sessions: number;
  readonly invites: number;
  readonly deviceLogins: number;
  readonly joinTokens: number;
  readonly jobsQueued: number;
  readonly jobsRunning: number;
  readonly jobsEnded: number;
  readonly batches: number;
  readonly assets: number;
  readonly assetBytes: number;
  /** Names of their machines, and of the networks that they own. */
  readonly providers: readonly string[];
  readonly networks: readonly string[];
  /** Of others' networks. */
  readonly memberships: number;
  readonly sharesGiven: number;
  readonly sharesReceived: number;
  readonly blocks: number;
  /** Messages that are still to be sent. */
  readonly webhooks: number;
  /** Kept, without a name. */
  readonly usageRows: number;
}

export type DeletedMember =
  | {
      readonly kind: 'deleted';
      readonly holdings: MemberHoldings;
      /** Whose files have no row any more. */
      readonly assetIds: readonly string[];
    }
  | { readonly kind: 'unknown' }
  /** Nobody else could administrate. */
  | { readonly kind: 'last_admin' };

export type Changed<T> =
  { readonly kind: 'changed'; readonly value: T } | { readonly kind: 'unknown' } | NameTaken;

/** A single-use way in, for one address. */
export interface Invite {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** The network that its member joins with it. */
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
  /** The member who invites. Null or absent: an administrator, who has no limits. */
  readonly inviter?: Inviter | null;
}

/** A member who invites into networks of their own. */
export interface Inviter {
  readonly memberId: string;
  /** Refused as `full` if so many invites into their networks are open. */
  readonly cap: number;
}

/** Who takes an invite up, less what the invite says of them. */
export interface Acceptance {
  /** Of the invite. */
  readonly hash: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** A browser that is logged in. */
export interface MemberSession {
  readonly id: string;
  readonly memberId: string;
  readonly memberName: string;
  /** Of the client at its last use. */
  readonly address: string;
  /** As the browser calls itself, at most 256 characters. */
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
}

export interface NewMemberSession {
  readonly hash: string;
  readonly memberId: string;
  /** Of the password that was found right: the member must still have it. */
  readonly passwordHash: string | null;
  readonly address: string;
  readonly userAgent: string;
  readonly expiresAt: number;
}

/** Why an invite lets nobody in; that of a disabled member does again once they are enabled. */
export type InviteRefusal = 'unknown' | 'used' | 'expired' | 'revoked' | 'of a disabled member';

export interface MemberStore {
  createMember(member: NewMember, now: number): Promise<Created<Member>>;
  /** Creates an administrator where nobody is a member yet; null if somebody is. */
  createFirstMember(member: Omit<NewMember, 'role'>, now: number): Promise<Member | null>;
  /** Finds by id, e-mail address or public name. */
  findMember(reference: string): Promise<Member | null>;
  listMembers(): Promise<readonly Member[]>;
  changeMember(id: string, change: MemberChange, now: number): Promise<Changed<Member>>;
  /** Null if the member is unknown. */
  memberHoldings(id: string): Promise<MemberHoldings | null>;
  /** Of jobs that have ended, with their webhooks; returns how many went. */
  deleteMemberJobs(id: string, limit: number): Promise<number>;
  /**
   * The member and all that is theirs, at once; jobs that have not ended are canceled. What was
   * used is kept under the id alone, and the audit log names them no more.
   */
  deleteMember(id: string, now: number): Promise<DeletedMember>;
  /**
   * Holds from the member's next request on; what `limits` leaves out stays as it was. False if
   * the member is unknown.
   */
  setMemberLimits(memberId: string, limits: Partial<MemberLimits>): Promise<boolean>;

  /**
   * Revokes the open invites of the same address. `taken` if a member has the address; `invited`
   * where one of those invites is not the inviter's to revoke.
   */
  createInvite(
    invite: NewInvite,
    now: number,
  ): Promise<Created<Invite> | CapReached | { readonly kind: 'invited' }>;
  /** The newest first. */
  listInvites(): Promise<readonly Invite[]>;
  /** False if it is unknown, used or revoked. */
  revokeInvite(id: string, now: number): Promise<boolean>;
  /** Creates the member, who joins the invite's network, and spends the invite: all or nothing. */
  acceptInvite(
    acceptance: Acceptance,
    now: number,
  ): Promise<Created<Member> | { readonly kind: 'refused'; readonly reason: InviteRefusal }>;

  /** For a log-in; null if no enabled member with a password has the address. */
  findPassword(email: string): Promise<{
    readonly member: Member;
    readonly passwordHash: string;
  } | null>;
  /** Null if the member has another password by now, or is disabled. */
  createSession(session: NewMemberSession, now: number): Promise<MemberSession | null>;
  /**
   * Null if it is unknown or over, or its member is disabled. Notes that it was used, at most
   * once a minute, from when on it lives as long again as at first.
   */
  useSession(
    hash: string,
    address: string,
    now: number,
  ): Promise<{ readonly session: MemberSession; readonly member: Member } | null>;
  /** Those that are not over; a null member stands for everybody. */
  listSessions(memberId: string | null, now: number): Promise<readonly MemberSession[]>;
  /** One by its id, or all of a member; returns how many ended. It forgets those that are over. */
  endSessions(
    which: { readonly id: string } | { readonly memberId: string },
    now: number,
  ): Promise<number>;
}
