/** The part of the store's port that is about members' machines and how they join. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { Changed } from './member-store.js';
import type { ServedModel } from '../core/routing/presence.js';
import type { CapReached, Created } from './outcomes.js';

export interface JoinToken {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  /** What its provider will be called, unless its agent says otherwise. */
  readonly name: string | null;
  /** The provider whose machine enrols again with it. */
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
  /** What it became. */
  readonly providerId: string | null;
}

export interface NewJoinToken {
  readonly ownerId: string;
  readonly name: string | null;
  readonly hash: string;
  readonly expiresAt: number;
  /** A provider of the owner's, or null for a new one. */
  readonly replaces: string | null;
  /** Refused as `full` if the owner has so many open ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

export interface Provider {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly isOwnerDisabled: boolean;
  /** Unique among the owner's. */
  readonly name: string;
  readonly createdAt: number;
  /** Null: it waits for an administrator, and gets no work. */
  readonly approvedAt: number | null;
  readonly lastSeenAt: number | null;
  readonly draining: boolean;
  /** It serves its owner alone, until they let others in again. */
  readonly paused: boolean;
  /** What it last advertised, online or not. */
  readonly services: readonly AdvertisedService[];
  readonly host: AgentHost | null;
}

export interface NewProvider {
  readonly joinTokenHash: string;
  readonly tokenHash: string;
  /** Null: the join token's name, else a name made from the owner's. */
  readonly name: string | null;
  /** False: it waits for an administrator. One that enrols again stays as it was. */
  readonly approved: boolean;
}

export type EnrollRefusal = {
  readonly kind: 'refused';
  readonly reason: 'unknown' | 'used' | 'expired' | 'revoked' | 'of a disabled member';
};

export interface NewestLink {
  readonly providerId: string;
  readonly linkId: string;
}

export interface Served {
  readonly services: readonly AdvertisedService[];
  readonly host: AgentHost;
}

export interface ProviderStore {
  createJoinToken(
    token: NewJoinToken,
    now: number,
  ): Promise<{ readonly kind: 'created'; readonly value: JoinToken } | CapReached>;
  /** The newest first, spent ones too. */
  listJoinTokens(): Promise<readonly JoinToken[]>;
  /** False if it is unknown, used or revoked. */
  revokeJoinToken(id: string, now: number): Promise<boolean>;
  /**
   * Spends the join token and registers the provider, or gives the one that it replaces a new
   * agent's token: both or neither.
   */
  enroll(provider: NewProvider, now: number): Promise<Created<Provider> | EnrollRefusal>;
  findProviderByToken(hash: string): Promise<Provider | null>;
  /** Of one owner, or of all. */
  listProviders(ownerId?: string): Promise<readonly Provider[]>;
  /** Those that wait for an administrator; not those of disabled members. */
  countWaitingProviders(): Promise<number>;
  /** False if the provider is unknown. */
  setProviderDraining(id: string, draining: boolean): Promise<boolean>;
  /** The same. */
  setProviderPaused(id: string, paused: boolean): Promise<boolean>;
  /** False if the provider is unknown, or approved already. */
  approveProvider(id: string, now: number): Promise<boolean>;
  renameProvider(id: string, name: string): Promise<Changed<Provider>>;
  /**
   * Its token opens nothing any more, its shares and join tokens go with it, and the leases of its
   * claims end now. False if it is unknown.
   */
  removeProvider(id: string, now: number): Promise<boolean>;

  /**
   * This coordinator starts. The links that its earlier process left open have ended when that was
   * last seen.
   */
  startNode(now: number): Promise<void>;
  /** This coordinator is alive. It writes nothing while no provider is linked to it. */
  beatNode(now: number): Promise<void>;
  /** What the provider serves from now on. Ignored unless the link is the provider's newest. */
  recordServed(link: NewestLink, served: Served, now: number): Promise<void>;
  /** Ignored unless the link is the provider's newest. */
  endLink(link: NewestLink, now: number): Promise<void>;
  /** Who serves the model, or has served it, wherever they are linked. */
  servedModels(serviceType: ServiceType, model: string): Promise<readonly ServedModel[]>;
}
