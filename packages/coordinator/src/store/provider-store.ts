/** The part of the store's port for providers and join tokens. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { Changed } from './member-store.js';
import type { ServedModel } from '../core/routing/presence.js';
import type { LinkEndReason, LinkHistory } from '../core/routing/uptime.js';
import type { CapReached, Created } from './outcomes.js';

export interface JoinToken {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  /** The name of its provider, unless its agent has another. */
  readonly name: string | null;
  /** The provider that enrols again with it. */
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
  /** The provider that it created. */
  readonly providerId: string | null;
}

export interface NewJoinToken {
  readonly ownerId: string;
  readonly name: string | null;
  readonly hash: string;
  readonly expiresAt: number;
  /** A provider of the owner to replace; null for a new one. */
  readonly replaces: string | null;
  /** Refused as `full` if the owner has this many open ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

export interface Provider {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly isOwnerDisabled: boolean;
  /** Unique per owner. */
  readonly name: string;
  readonly createdAt: number;
  /** Null: it waits for approval by an administrator, and gets no work. */
  readonly approvedAt: number | null;
  readonly lastSeenAt: number | null;
  readonly draining: boolean;
  /** It serves only its owner, until they end the pause. */
  readonly paused: boolean;
  /** What it last advertised, online or not. */
  readonly services: readonly AdvertisedService[];
  readonly host: AgentHost | null;
}

export interface NewProvider {
  readonly joinTokenHash: string;
  readonly tokenHash: string;
  /** Null: the join token's name, else a name derived from the owner's. */
  readonly name: string | null;
  /** False: it waits for approval. One that enrols again keeps its state. */
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

export interface EndedLink extends NewestLink {
  readonly reason: LinkEndReason;
}

export interface Served {
  readonly services: readonly AdvertisedService[];
  readonly host: AgentHost;
}

/** Links that ended longer ago are forgotten. */
export const LINK_HISTORY_MS = 30 * 86_400_000;

/** Of a provider; of one that links more often, the oldest are forgotten. */
export const MAX_LINKS_KEPT = 500;

export interface ProviderStore {
  createJoinToken(
    token: NewJoinToken,
    now: number,
  ): Promise<{ readonly kind: 'created'; readonly value: JoinToken } | CapReached>;
  /** The newest first, including used ones. */
  listJoinTokens(): Promise<readonly JoinToken[]>;
  /** False if it is unknown, used or revoked. */
  revokeJoinToken(id: string, now: number): Promise<boolean>;
  /**
   * Uses up the join token and registers the provider, or gives the replaced provider a new agent
   * token: both or neither.
   */
  enroll(provider: NewProvider, now: number): Promise<Created<Provider> | EnrollRefusal>;
  findProviderByToken(hash: string): Promise<Provider | null>;
  /** Of one owner, or of all. */
  listProviders(ownerId?: string): Promise<readonly Provider[]>;
  /** Providers that wait for approval, without those of disabled members. */
  countWaitingProviders(): Promise<number>;
  /** False if the provider is unknown. */
  setProviderDraining(id: string, draining: boolean): Promise<boolean>;
  /** False if the provider is unknown. */
  setProviderPaused(id: string, paused: boolean): Promise<boolean>;
  /** False if the provider is unknown, or approved already. */
  approveProvider(id: string, now: number): Promise<boolean>;
  renameProvider(id: string, name: string): Promise<Changed<Provider>>;
  /**
   * Deletes the provider with its shares and join tokens; its token becomes invalid, and the leases
   * of its claims end now. False if it is unknown.
   */
  removeProvider(id: string, now: number): Promise<boolean>;

  /**
   * This coordinator starts. Links that its earlier process left open ended when it was last seen.
   */
  startNode(now: number): Promise<void>;
  /** This coordinator is alive. It writes nothing while no provider is linked to it. */
  beatNode(now: number): Promise<void>;
  /** The provider's new services. Ignored unless the link is the provider's newest. */
  recordServed(link: NewestLink, served: Served, now: number): Promise<void>;
  /** Ignored unless the link is the provider's newest. */
  endLink(link: EndedLink, now: number): Promise<void>;
  /** When a provider was linked. */
  linkHistory(providerId: string): Promise<LinkHistory>;
  /** At most so many of those that ended more than `LINK_HISTORY_MS` ago; how many they were. */
  deleteOldLinks(now: number, limit: number): Promise<number>;
  /** The providers that serve or served the model, whichever coordinator they are linked to. */
  servedModels(serviceType: ServiceType, model: string): Promise<readonly ServedModel[]>;
}
