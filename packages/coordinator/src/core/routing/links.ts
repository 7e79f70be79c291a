/**
 * What the rest of the coordinator may know of agents' links. `links` implements it and
 * `coordinator.ts` hands it to `dispatch`, `http` and `admin`, so that none of them ever sees a
 * socket.
 */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type {
  CardReading,
  AdvertisedService,
  AgentHost,
  Message,
  ReasoningField,
  RejectReason,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';
import type { Candidate, Choice } from './match.js';
import type { Measured } from './pace.js';
import type { Shared } from '../access/access.js';
import type { ShareState } from '../access/sharing.js';

/** A registered provider: what it serves now, or last served. */
export interface ProviderView {
  readonly providerId: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly name: string;
  readonly createdAt: number;
  /** It serves nobody: it waits for approval, or its owner is disabled. */
  readonly closed: boolean;
  readonly shares: readonly ShareState[];
  /** Null while it is offline. */
  readonly link: LinkView | null;
  /** Unix ms at which its last link ended; null while online, or without a link since the start. */
  readonly offlineSince: number | null;
  readonly draining: boolean;
  /** By its owner in the console: it takes their own work alone, whatever its agent accepts. */
  readonly paused: boolean;
  readonly services: readonly AdvertisedService[];
}

export interface LinkView {
  readonly linkId: string;
  readonly connectedAt: number;
  readonly agentVersion: string;
  readonly host: AgentHost;
  /**
   * What the host's cards do, in their order; none where its agent does not tell. It is its
   * owner's and the administrators' to see.
   */
  readonly cards: readonly CardReading[];
  /** Whose work it takes now: the least of what its agent and its owner's switch let in. */
  readonly accepts: 'all' | 'own' | 'none';
  /** Streams open on it now. */
  readonly busy: number;
  /** The same by service id; none where nothing is under way. */
  readonly busyByService: ReadonlyMap<string, number>;
}

/** A file of a request, which waits on disk and can be read again for another provider. */
export interface Upload {
  /** The form field: `file`, `image` or `mask`. */
  readonly name: string;
  /** As its first bytes tell. */
  readonly contentType: string;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

/** What is sent to an agent to start one piece of work. */
export interface OpenRequest {
  /** Null: a synchronous call. */
  readonly job: { readonly jobId: string; readonly claimId: string } | null;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly caller: { readonly name: string; readonly own: boolean };
  /** Of the caller; not for the agent's eyes. */
  readonly memberId: string;
  readonly body: Uint8Array;
  readonly uploads: readonly Upload[];
  /** Answers that it asks for: so many slots are taken, where they are free. */
  readonly sequences: number;
  readonly deadlineMs: number;
  readonly attempt: number;
  readonly requestId: string;
  /** Absent: the usual one. */
  readonly reasoningField?: ReasoningField;
}

export interface AnswerHead {
  readonly status: number;
  readonly contentType: string;
}

/** One file of an answer begins: what the agent says of it. */
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
      /** Of what was sent of the answer. */
      readonly usage?: TokenUsage | null;
    }
  /** Our own disk's fault, and no provider's. */
  | { readonly kind: 'upload_unreadable'; readonly cause: unknown }
  | { readonly kind: 'not_accepted' }
  | { readonly kind: 'disconnected' };

/**
 * Told what an agent answers, in order: `accepted`, `head`, any number of `data`, then `end` or
 * `fail`, once. Where an answer consists of files, `part` stands before the `data` of each.
 */
export interface ExchangeHandler {
  /** The agent has taken the work. HEAD takes it, too. */
  accepted(): void;
  /** The agent says that it is alive, for instance while a model loads. */
  progress(): void;
  head(head: AnswerHead): void;
  part(part: AnswerPart): void;
  /** The bytes count against the stream's window until `Exchange.consumed` is called for them. */
  data(bytes: Uint8Array): void;
  end(usage: TokenUsage | null): void;
  fail(failure: ExchangeFailure): void;
  /**
   * After `cancel`: the agent's last word, or null if none comes in time; the first counts.
   * `bytes` are those of the answer that came meanwhile.
   */
  stopped(usage: TokenUsage | null, bytes: number): void;
}

/** One piece of work under way on an agent. */
export interface Exchange {
  /** Grants the agent new credit for bytes that have been passed on. */
  consumed(bytes: number): void;
  /**
   * Stops the work on the GPU. The handler hears nothing more but `stopped`; the slot stays taken
   * until the agent confirms, or 15 s.
   */
  cancel(code: ResetCode): void;
  /**
   * What has become of a job's last word, its END or RESET: only now does the agent forget it.
   */
  acknowledge(claimId: string, verdict: ResultVerdict): void;
}

export type ResultVerdict = Message<'RESULT_ACK'>['verdict'];

/** A slot that is kept for a job while its claim is being written. Ends with either, once. */
export interface Reservation {
  /** Null if the link has ended meanwhile. */
  open(request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  release(): void;
}

/** A claim that an agent brings back from an earlier link. */
export type ClaimOffer = Message<'HELLO'>['resume'][number];

/** What is to be done with it. */
export type Resumption =
  | { readonly claimId: string; readonly action: 'discard' }
  | {
      readonly claimId: string;
      /** `continue` takes a slot of the service until its last word. */
      readonly action: 'continue' | 'upload';
      readonly serviceId: string;
      /** Through which its caller was let in; null if they own the provider. */
      readonly shareId: string | null;
      readonly handler: ExchangeHandler;
      /** Called with the stream on which the whole answer comes. */
      begin(exchange: Exchange): void;
    };

export interface LinkedProvider {
  readonly providerId: string;
  readonly providerName: string;
  readonly linkId: string;
}

/** What links ask of whoever runs jobs. `dispatch` implements it. */
export interface ClaimKeeper {
  /** Asked before WELCOME: until it is answered, the agent is given no work. */
  resume(linked: LinkedProvider, offers: readonly ClaimOffer[]): Promise<readonly Resumption[]>;
  /** The claims that an agent says it holds; resolves with those that are not current. */
  renew(linked: LinkedProvider, claimIds: readonly string[]): Promise<readonly string[]>;
}

/** How a call went, as far as it tells of its provider. */
export type CallReport =
  /** `measured` is null if the answer has only begun. */
  | { readonly kind: 'ok'; readonly measured: Measured | null }
  | { readonly kind: 'failed' }
  /** It takes nothing now, and is left alone for a moment. */
  | { readonly kind: 'busy' }
  /** Nothing: its caller left or made an error, its owner wanted the card, its link was lost. */
  | { readonly kind: 'nothing' };

export interface Links {
  /** Every provider that serves, or last served, this model under this type. */
  candidates(serviceType: ServiceType, model: string): readonly Candidate[];
  /** What is shared of a provider, linked here or not; null if the store knows none by that id. */
  shared(providerId: string): Shared | null;
  providers(): readonly ProviderView[];
  /**
   * Null if the link has gone, its last slot was taken, or the caller may not use it any more
   * since it was chosen.
   */
  open(choice: Choice, request: OpenRequest, handler: ExchangeHandler): Exchange | null;
  /** Takes a slot of a candidate for a job; null as in `open`. */
  reserve(choice: Choice): Reservation | null;
  /** Slots that jobs may take now, of all providers that let work in; counted up to `most`. */
  freeJobSlots(most: number): number;
  /** Tells the matcher how a call went that was opened; the last report is that of its end. */
  report(choice: Choice, report: CallReport): void;
  /**
   * Calls back whenever a slot is freed or a provider arrives or changes. Returns how to stop it.
   */
  onCapacity(listener: () => void): () => void;
}

// What a command may do to the links of a running coordinator. Settings and names of providers
// reach them from the store.

export interface AdminLinks {
  /** Closes the provider's link; the agent comes back by itself. False if it has none. */
  kick(providerId: string): boolean;
  /**
   * Closes the provider's link for good: its agent is told why, and gives up. False if it has
   * none.
   */
  refuse(providerId: string, why: 'disabled' | 'revoked'): boolean;
}
