/**
 * The link of a provider's agent as calls see it: held by this coordinator, or by another one that
 * relays calls to it.
 */
import type { AgentHost, CardReading } from '@inference-gateway/shared/protocol/messages';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type {
  Exchange,
  ExchangeHandler,
  OpenRequest,
  OwnerQuestion,
  ReplyHandler,
} from '../core/routing/links.js';
import type { LinkEndReason } from '../core/routing/uptime.js';
import type { SlotUse } from './slot-counts.js';

export interface ProviderLink {
  /** Name of the coordinator that holds it; null: this one. */
  readonly node: string | null;
  readonly id: string;
  /** Counts the provider's links on all coordinators: the highest is the newest. */
  readonly epoch: number;
  /** Unix ms. */
  readonly connectedAt: number;
  readonly agentVersion: string;
  /** New for every process of the agent. */
  readonly instanceId: string;
  readonly host: AgentHost;
  readonly cards: readonly CardReading[];
  readonly accepts: 'all' | 'own' | 'none';
  /** Streams open on it now. */
  readonly busy: number;
  readonly isOpen: boolean;
  /** Its agent moves to another coordinator. */
  readonly isLeaving: boolean;
  /** Its agent answers questions beside its work. */
  readonly answers: boolean;
  /** False if too many are open. The last reply comes in any case, also if the link ends. */
  ask(asked: OwnerQuestion, onReply: ReplyHandler): boolean;
  /** Null if it is closing or full. */
  open(use: SlotUse, request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  /** Whether the agent answers a ping within 3 s. */
  isAlive(): Promise<boolean>;
  end(why: LinkEnd): void;
}

export type LinkEnd = keyof typeof LINK_ENDS;

/** After `disabled` and `revoked` an agent gives up; after the others it reconnects. */
export const LINK_ENDS = {
  superseded: {
    code: CLOSE.superseded,
    reason: 'a newer link of this agent took over',
    why: 'replaced',
  },
  kicked: { code: CLOSE.restart, reason: 'an admin closed this link', why: 'kicked' },
  disabled: {
    code: CLOSE.disabled,
    reason: 'the owner of this provider is disabled',
    why: 'owner_disabled',
  },
  revoked: {
    code: CLOSE.tokenRevoked,
    reason: 'the token of this agent is not valid any more',
    why: 'revoked',
  },
} as const satisfies Readonly<Record<string, LinkEnding>>;

interface LinkEnding {
  readonly code: number;
  readonly reason: string;
  /** In the history of links. */
  readonly why: LinkEndReason;
}
