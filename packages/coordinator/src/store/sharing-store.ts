/** The part of the store's port that decides who may use whose machines. */
import type { ShareCaps, ShareSubject, SharingFacts } from '../core/access/sharing.js';
import type { Changed } from './member-store.js';
import type { Created } from './outcomes.js';

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

export interface SharingStore {
  /** Its owner is its first member. */
  createNetwork(
    network: { readonly name: string; readonly ownerId: string },
    now: number,
  ): Promise<Created<Network>>;
  renameNetwork(id: string, name: string): Promise<Changed<Network>>;
  /** With all that is shared with it. False where it is unknown. */
  deleteNetwork(id: string): Promise<boolean>;
  listNetworks(): Promise<readonly Network[]>;
  /** Without being asked, which ends an open invitation. False where nothing changes. */
  joinNetwork(networkId: string, memberId: string, now: number): Promise<boolean>;
  /**
   * False where nothing changes: the owner stays for as long as the network is there. What they
   * share with it themselves stays.
   */
  leaveNetwork(networkId: string, memberId: string): Promise<boolean>;
  /** False where nothing changes: they are invited or in it already, or either is unknown. */
  inviteToNetwork(
    invitation: Pick<NetworkInvitation, 'networkId' | 'memberId' | 'invitedBy'>,
    now: number,
  ): Promise<boolean>;
  /** The open ones of a member or of a network, in the order of their making. */
  listNetworkInvitations(
    of: { readonly memberId: string } | { readonly networkId: string },
  ): Promise<readonly NetworkInvitation[]>;
  /** The member's answer; whoever accepts is in the network. False where none is open. */
  answerNetworkInvitation(answer: InvitationAnswer, now: number): Promise<boolean>;
  /** False where none is open. */
  withdrawNetworkInvitation(networkId: string, memberId: string): Promise<boolean>;

  /** The same subject shared again with the same audience takes the new caps. */
  putShare(share: NewShare, now: number): Promise<Share>;
  /** False where it is unknown. */
  deleteShare(id: string): Promise<boolean>;
  /** In the order of their making; a null provider stands for all. */
  listShares(providerId: string | null): Promise<readonly Share[]>;

  /** Whatever the owner shares, this member gets nothing of it. False where nothing changes. */
  blockMember(ownerId: string, memberId: string, now: number): Promise<boolean>;
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
