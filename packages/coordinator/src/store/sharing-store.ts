/** The part of the store's port for networks, shares and blocks. */
import type { ShareCaps, ShareSubject, SharingFacts } from '../core/access/sharing.js';
import type { Changed } from './member-store.js';
import type { CapReached, Created } from './outcomes.js';

export interface Network {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly createdAt: number;
  /** Including the owner, in the order in which they joined. */
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    readonly joinedAt: number;
  }[];
}

export interface NewNetwork {
  readonly name: string;
  readonly ownerId: string;
  /** Refused as `full` if the owner has this many. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** An owner's invitation of a member, who joins the network only by accepting it. */
export interface NetworkInvitation {
  readonly networkId: string;
  readonly networkName: string;
  readonly memberId: string;
  readonly memberName: string;
  readonly invitedBy: string;
  readonly inviterName: string;
  readonly createdAt: number;
}

export interface NewNetworkInvitation extends Pick<
  NetworkInvitation,
  'networkId' | 'memberId' | 'invitedBy'
> {
  /** Refused as `full` if the network has this many open ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** The outcome of a change that may already have been made. */
export type Applied = { readonly kind: 'changed' | 'unchanged' } | CapReached;

export interface InvitationAnswer {
  readonly networkId: string;
  readonly memberId: string;
  readonly accepted: boolean;
}

/** The network or member that a share is for. */
export type Audience =
  | { readonly kind: 'network'; readonly id: string }
  | { readonly kind: 'member'; readonly id: string };

export interface NewShare {
  readonly providerId: string;
  readonly subject: ShareSubject;
  readonly audience: Audience;
  readonly caps: ShareCaps;
}

export interface Share extends NewShare {
  readonly id: string;
  /** As `OWNER/NAME`. */
  readonly providerName: string;
  readonly ownerId: string;
  /** Name of the network or member. */
  readonly audienceName: string;
  readonly createdAt: number;
}

export interface Block {
  readonly ownerId: string;
  readonly ownerName: string;
  readonly memberId: string;
  readonly memberName: string;
  readonly createdAt: number;
}

export interface NewBlock {
  readonly ownerId: string;
  readonly memberId: string;
  /** Refused as `full` if the owner blocks this many members. Null or absent: no limit. */
  readonly cap?: number | null;
}

export interface SharingStore {
  /** Its owner is its first member. */
  createNetwork(network: NewNetwork, now: number): Promise<Created<Network> | CapReached>;
  renameNetwork(id: string, name: string): Promise<Changed<Network>>;
  /** Deletes it with all its shares. False if it is unknown. */
  deleteNetwork(id: string): Promise<boolean>;
  listNetworks(): Promise<readonly Network[]>;
  /** Adds a member without an invitation, and ends an open one. False if nothing changes. */
  joinNetwork(networkId: string, memberId: string, now: number): Promise<boolean>;
  /**
   * False if nothing changes: the owner cannot leave. Shares of the removed member with the network
   * stay.
   */
  leaveNetwork(networkId: string, memberId: string): Promise<boolean>;
  /** `unchanged` if they are invited or members already, or either is unknown. */
  inviteToNetwork(invitation: NewNetworkInvitation, now: number): Promise<Applied>;
  /** The open ones of a member or of a network, in order of creation. */
  listNetworkInvitations(
    of: { readonly memberId: string } | { readonly networkId: string },
  ): Promise<readonly NetworkInvitation[]>;
  /** The member's answer; accepting joins the network. False if no invitation is open. */
  answerNetworkInvitation(answer: InvitationAnswer, now: number): Promise<boolean>;
  /** False if none is open. */
  withdrawNetworkInvitation(networkId: string, memberId: string): Promise<boolean>;

  /**
   * Sharing the same subject again with the same audience replaces its limits. A new share is
   * refused as `full` if its provider has `cap` shares; null or absent: no limit.
   */
  putShare(
    share: NewShare & { readonly cap?: number | null },
    now: number,
  ): Promise<{ readonly kind: 'shared'; readonly value: Share } | CapReached>;
  /** False if it is unknown. */
  deleteShare(id: string): Promise<boolean>;
  /** In order of creation; a null provider: of all. */
  listShares(providerId: string | null): Promise<readonly Share[]>;

  /**
   * Excludes this member from all shares of the owner. `unchanged` if they are already blocked, or
   * either is unknown.
   */
  blockMember(block: NewBlock, now: number): Promise<Applied>;
  unblockMember(ownerId: string, memberId: string): Promise<boolean>;
  listBlocks(): Promise<readonly Block[]>;

  /** All facts that the access rule reads, and the aliases. */
  sharingFacts(): Promise<SharingFacts>;
  /**
   * Called with the facts after every change, before the change is answered: an owner does not see
   * that a share has ended while it can still be used. A change by another process is reported with
   * the next operation.
   */
  watchSharing(listener: (facts: SharingFacts) => void): void;
}
