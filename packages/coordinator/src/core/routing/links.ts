/**
 * What the rest of the coordinator may know of agents' links. `links` implements it, and
 * `coordinator.ts` passes it to `dispatch`, `http` and `admin`, so that none of them sees a socket.
 */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { Question, Reply } from '@inference-gateway/shared/protocol/asks';
import type {
  CardReading,
  AdvertisedService,
  AgentHost,
  Message,
  ReasoningField,
  RejectReason,
  ResetCode,
  AnswerCost,
} from '@inference-gateway/shared/protocol/messages';
import type { Candidate, Choice, MatchRequest } from './match.js';
import type { Measured } from './pace.js';
import type { Shared } from '../access/access.js';
import type { AliasIndex } from '../access/aliases.js';
import type { ShareState } from '../access/sharing.js';

/** A registered provider: what it serves now, or last served. */
export interface ProviderView {
  readonly providerId: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly name: string;
  readonly createdAt: number;
  /** It serves no member: it waits for approval, or its owner is disabled. */
  readonly closed: boolean;
  readonly shares: readonly ShareState[];
  /** Null while it is offline. */
  readonly link: LinkView | null;
  /**
   * Unix ms at which its last link ended; null while online, or if it had no link since the start.
   */
  readonly offlineSince: number | null;
  readonly draining: boolean;
  /**
   * Set by its owner in the console: only the owner's work, even if its agent accepts more.
   */
  readonly paused: boolean;
  readonly services: readonly AdvertisedService[];
}

export interface LinkView {
  readonly linkId: string;
  /** Name of the coordinator that holds it; null: this one. */
  readonly node: string | null;
  readonly connectedAt: number;
  readonly agentVersion: string;
  readonly host: AgentHost;
  /**
   * Readings of the host's cards, in order; empty if the agent reports none. Visible to the owner
   * and administrators only.
   */
  readonly cards: readonly CardReading[];
  /** Whose work it takes now: the stricter of its agent's setting and its owner's switch. */
  readonly accepts: 'all' | 'own' | 'none';
  /** Streams open on it now. */
  readonly busy: number;
  /** Open streams by service id; services without one are absent. */
  readonly busyByService: ReadonlyMap<string, number>;
}

/** A file of a request. It is stored on disk and can be read again for another provider. */
export interface Upload {
  /** The form field: `file`, `image` or `mask`. */
  readonly name: string;
  /** Detected from its first bytes. */
  readonly contentType: string;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

/** A call that waits for a slot, as other coordinators are told of it. */
export interface Wanted extends Pick<MatchRequest, 'caller' | 'needs' | 'excluded'> {
  readonly serviceType: ServiceType;
  readonly model: string;
  /** Takes the offered slot; false if it cannot, and is then offered none of that provider. */
  take(offer: Offer): boolean;
}

/** A call that waits, as the other coordinators know it. */
export interface Want {
  /** False: too many wait, and they have not been told of it. */
  readonly isKnown: boolean;
  end(): void;
}

/** A slot of an agent that another coordinator holds for a call that waits here. */
export interface Offer {
  readonly want: number;
  readonly providerId: string;
  readonly serviceId: string;
}

/** A call that waits at another coordinator. */
export interface StandIn extends Omit<Wanted, 'take'> {
  /** Of calls with the same key, none finds a slot if one does not. */
  readonly key: string;
  /** Takes the slot for it; false if that cannot be. */
  take(choice: Choice): boolean;
}

/** The queue of the calls that wait here, which `relay` keeps. */
export interface StandIns {
  /**
   * Waits for a slot of an agent that is linked here, in turn with the calls of this coordinator,
   * until the returned function ends that.
   */
  standIn(call: StandIn): () => void;
}

/** What is sent to an agent to start one piece of work. */
export interface OpenRequest {
  /** Null for a synchronous call. */
  readonly job: { readonly jobId: string; readonly claimId: string } | null;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly caller: { readonly name: string; readonly own: boolean };
  /** The caller's member id; never sent to the agent. */
  readonly memberId: string;
  /** The limit of the share that the body was fitted to; absent or null: none. */
  readonly maxTokens?: number | null;
  readonly body: Uint8Array;
  readonly uploads: readonly Upload[];
  /** Answers that it asks for: it takes this many slots, if they are free. */
  readonly sequences: number;
  readonly deadlineMs: number;
  readonly attempt: number;
  readonly requestId: string;
  /** Absent: the default field. */
  readonly reasoningField?: ReasoningField;
}

export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
}

/** The agent's header of one file of an answer. */
export interface AnswerPart {
  readonly contentType: string;
  readonly revisedPrompt: string | null;
}

/** Why an exchange ended without an answer. */
export type ExchangeFailure =
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  | {
      readonly kind: 'reset';
      readonly code: ResetCode;
      readonly message: string;
      /** For the part of the answer that was sent; absent: nothing was. */
      readonly cost?: AnswerCost;
    }
  /** A fault of the coordinator's own disk, not of a provider. */
  | { readonly kind: 'upload_unreadable'; readonly cause: unknown }
  | { readonly kind: 'not_accepted' }
  | { readonly kind: 'disconnected' };

/**
 * Receives an agent's answer, in order: `accepted`, `head`, any number of `data`, then `end` or
 * `fail`, once. If an answer consists of files, `part` precedes the `data` of each.
 */
export interface ExchangeHandler {
  /** The agent has taken the work. HEAD implies it, too. */
  accepted(): void;
  /** The agent is alive, for example while a model loads. */
  progress(): void;
  head(head: AnswerHead): void;
  part(part: AnswerPart): void;
  /** The bytes count against the stream's window until `Exchange.consumed` is called for them. */
  data(bytes: Uint8Array): void;
  end(cost: AnswerCost): void;
  fail(failure: ExchangeFailure): void;
  /**
   * After `cancel`: what the agent's final message says, nothing if none comes in time; the first
   * one counts. `bytes` counts the answer bytes that arrived meanwhile.
   */
  stopped(cost: AnswerCost, bytes: number): void;
}

/** One piece of work running on an agent. */
export interface Exchange {
  /** Grants the agent new credit for bytes that have been passed on. */
  consumed(bytes: number): void;
  /**
   * Stops the work on the GPU. After it, the handler gets only `stopped`; the slot stays taken
   * until the agent confirms, at most 15 s.
   */
  cancel(code: ResetCode): void;
  /**
   * What became of a job's final message (END or RESET). The agent keeps the result until it gets
   * this.
   */
  acknowledge(claimId: string, verdict: ResultVerdict): void;
}

export type ResultVerdict = Message<'RESULT_ACK'>['verdict'];

/**
 * A slot reserved for a job while its claim is being written. Ends with exactly one of the two
 * calls.
 */
export interface Reservation {
  /** Null if the link has ended meanwhile. */
  open(request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  release(): void;
}

/** A claim that an agent resumes from an earlier link. */
export type ClaimOffer = Message<'HELLO'>['resume'][number];

/** What to do with the claim. */
export type Resumption =
  | { readonly claimId: string; readonly action: 'discard' }
  | {
      readonly claimId: string;
      /** `continue` takes a slot of the service until the final message. */
      readonly action: 'continue' | 'upload';
      readonly serviceId: string;
      /** The share that let its caller in; null if the caller owns the provider. */
      readonly shareId: string | null;
      readonly handler: ExchangeHandler;
      /** Called with the stream that carries the whole answer. */
      begin(exchange: Exchange): void;
    };

/** What becomes of the claims that an agent holds. */
export interface ResumedLink {
  /** Counts the provider's links on all coordinators: this one is the newest. */
  readonly epoch: number;
  readonly resumptions: readonly Resumption[];
}

export interface LinkedProvider {
  readonly providerId: string;
  readonly providerName: string;
  readonly linkId: string;
}

/** What links need from the part that runs jobs. `dispatch` implements it. */
export interface ClaimKeeper {
  /** Called before WELCOME: the agent gets no work until it resolves. */
  resume(linked: LinkedProvider, offers: readonly ClaimOffer[]): Promise<ResumedLink>;
  /** Renews the claims that an agent says it holds; resolves with those that are not current. */
  renew(linked: LinkedProvider, claimIds: readonly string[]): Promise<readonly string[]>;
}

/** With these a model server says that it takes no request now. */
export const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429, 503]);

/** What a call's outcome says about its provider. */
export type CallReport =
  /** `measured` is null if the answer has only begun. */
  | { readonly kind: 'ok'; readonly measured: Measured | null }
  | { readonly kind: 'failed' }
  /** It takes no calls now and gets none for a moment. */
  | { readonly kind: 'busy' }
  /**
   * Says nothing: the caller left or made an error, the owner needed the card, or the link was
   * lost.
   */
  | { readonly kind: 'nothing' };

export interface Links {
  /** As the store knows them now. */
  readonly aliases: Pick<AliasIndex, 'meant' | 'names'>;
  /** Every provider that serves, or last served, this model under this type. */
  candidates(serviceType: ServiceType, model: string): readonly Candidate[];
  /** What is shared of a provider, linked here or not; null if the store has no such provider. */
  shared(providerId: string): Shared | null;
  providers(): readonly ProviderView[];
  /**
   * Null if the link has gone, its last slot was taken, or the caller has lost access since the
   * choice.
   */
  open(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  /** The same for a question that takes no slot, and no part of a share's quota. */
  ask(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  /** Others give it a turn for slots of their agents. */
  want(wanted: Wanted): Want;
  /** Takes a slot of a candidate for a job; null as in `open`. */
  reserve(choice: Choice): Reservation | null;
  /** Slots that jobs may take now on all providers that accept work; counted up to `most`. */
  freeJobSlots(most: number): number;
  /** Reports to the matcher how a call went; the last report is the one at its end. */
  report(choice: Choice, report: CallReport): void;
  /**
   * Calls the listener whenever a slot is freed or a provider arrives or changes. Returns the
   * function that removes it.
   */
  onCapacity(listener: () => void): () => void;
}

// Questions to an agent beside its work.

/** What the owner of a provider asks its agent. */
export interface OwnerQuestion extends Question {
  readonly memberId: string;
}

/** Gets each part of the answer; the last one, which may be a refusal, comes in any case. */
export type ReplyHandler = (reply: Reply) => void;

/** `older`: its agent knows no questions. `busy`: it has too many. */
export type AskOutcome = 'asked' | 'offline' | 'older' | 'busy';

// What an administrator's command may do to the links of a running coordinator. Settings and names
// of providers reach links through the store.

export interface AdminLinks {
  /** Closes the provider's link; the agent reconnects by itself. False if it has no link. */
  kick(providerId: string): boolean;
  /**
   * Closes the provider's link for good: the agent gets the reason and gives up. False if it has no
   * link.
   */
  refuse(providerId: string, why: 'disabled' | 'revoked'): boolean;
  /** Asks its agent, whichever coordinator it is linked to. */
  question(providerId: string, asked: OwnerQuestion, onReply: ReplyHandler): AskOutcome;
}
