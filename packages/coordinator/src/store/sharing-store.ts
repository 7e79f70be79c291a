/** The part of the store's port that decides who may use whose machines. */
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
  /** The owner among them, in the order in which they joined. */
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    readonly joinedAt: number;
  }[];
}

export interface NewNetwork {
  readonly name: string;
  readonly ownerId: string;
  /** Refused as `full` if the owner has so many. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** What its owner asks of a member, who is in the network only once they have accepted. */
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
  /** Refused as `full` if the network has so many open ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** What became of a change that may have been made before. */
export type Applied = { readonly kind: 'changed' | 'unchanged' } | CapReached;

export interface InvitationAnswer {
  readonly networkId: string;
  readonly memberId: string;
  readonly accepted: boolean;
}

/** With whom something is shared. */
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
  /** The network's or the member's. */
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
  /** Refused as `full` if the owner blocks so many members. Null or absent: no limit. */
  readonly cap?: number | null;
}

export interface SharingStore {
  /** Its owner is its first member. */
  createNetwork(network: NewNetwork, now: number): Promise<Created<Network> | CapReached>;
  renameNetwork(id: string, name: string): Promise<Changed<Network>>;
  /** With all that is shared with it. False if it is unknown. */
  deleteNetwork(id: string): Promise<boolean>;
  listNetworks(): Promise<readonly Network[]>;
  /** Without being asked, which ends an open invitation. False if nothing changes. */
  joinNetwork(networkId: string, memberId: string, now: number): Promise<boolean>;
  /**
   * False if nothing changes: the owner stays for as long as the network is there. What they
   * share with it themselves stays.
   */
  leaveNetwork(networkId: string, memberId: string): Promise<boolean>;
  /** `unchanged` if they are invited or in it already, or either is unknown. */
  inviteToNetwork(invitation: NewNetworkInvitation, now: number): Promise<Applied>;
  /** The open ones of a member or of a network, in the order of their making. */
  listNetworkInvitations(
    of: { readonly memberId: string } | { readonly networkId: string },
  ): Promise<readonly NetworkInvitation[]>;
  /** The member's answer; whoever accepts is in the network. False if none is open. */
  answerNetworkInvitation(answer: InvitationAnswer, now: number): Promise<boolean>;
  /** False if none is open. */
  withdrawNetworkInvitation(networkId: string, memberId: string): Promise<boolean>;

  /**
   * The same subject shared again with the same audience takes the new caps. A new share is refused
   * as `full` if its provider has `cap` shares; null or absent: no limit.
   */
  putShare(
    share: NewShare & { readonly cap?: number | null },
    now: number,
  ): Promise<{ readonly kind: 'shared'; readonly value: Share } | CapReached>;
  /** False if it is unknown. */
  deleteShare(id: string): Promise<boolean>;
  /** In the order of their making; a null provider stands for all. */
  listShares(providerId: string | null): Promise<readonly Share[]>;

  /**
   * Whatever the owner shares, this member gets nothing of it. `unchanged` if they are blocked
   * already, or either is unknown.
   */
  blockMember(block: NewBlock, now: number): Promise<Applied>;
  unblockMember(ownerId: string, memberId: string): Promise<boolean>;
  listBlocks(): Promise<readonly Block[]>;

  /** All that decides who may use what. */
  sharingFacts(): Promise<SharingFacts>;
  /**
   * Told the facts after every change of them, before the change is answered: nobody is told that
   * something is unshared while it can still be used. A change by another process is told with the
   * next operation.
   */
  watchSharing(listener: (facts: SharingFacts) => void): void;
}
