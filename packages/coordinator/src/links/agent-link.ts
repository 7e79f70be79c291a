/**
 * One agent's link, from WELCOME to its close: routes frames to streams, answers heartbeats,
 * detects silence. Whatever a hostile agent sends ends only this link.
 */
import { randomId } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { Link, ProtocolViolation, requireNoBytes } from '@inference-gateway/shared/protocol/link';
import type { LinkTiming } from '@inference-gateway/shared/protocol/link';
import type { OpenSocket } from '@inference-gateway/shared/protocol/socket';
import { ASK_LIMITS, ASKS } from '@inference-gateway/shared/protocol/asks';
import {
  decodeAgentMessage,
  LINK_FEATURES,
  TOKEN_COUNTING,
} from '@inference-gateway/shared/protocol/messages';
import type {
  CardReading,
  AdvertisedService,
  AgentHost,
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { CLOSE, LINK } from '@inference-gateway/shared/protocol/version';
import { RateLimit } from '../core/access/rate.js';
import type {
  ExchangeHandler,
  OpenRequest,
  OwnerQuestion,
  ReplyHandler,
  Resumption,
  Upload,
} from '../core/routing/links.js';
import type { LinkEndReason } from '../core/routing/uptime.js';
import { AgentStream } from './agent-stream.js';
import { Asks } from './asks.js';
import { LINK_ENDS } from './provider-link.js';
import type { LinkEnd, ProviderLink } from './provider-link.js';
import { NO_SLOTS } from './slot-counts.js';
import type { SlotUse } from './slot-counts.js';

interface AgentLinkOptions extends OpenSocket {
  readonly hello: Message<'HELLO'>;
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: AgentLinkTiming;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Of a synchronous call on a link that is leaving: it is cut then. */
const LEAVE_LIMIT_MS = 10 * 60_000;

interface Resumed {
  readonly told: Message<'WELCOME'>['resume'][number];
  begin(): void;
}

export class AgentLink implements ProviderLink {
  /** This coordinator. */
  readonly node = null;
  readonly id = randomId();
  readonly connectedAt: number;
  readonly hello: Message<'HELLO'>;
  /** From HELLO or the last SERVICES: the result of a slow hardware probe arrives with SERVICES. */
  host: AgentHost;
  services: readonly AdvertisedService[];
  readonly acceptMs: number;
  accepts: Message<'HEARTBEAT'>['accepts'] = 'all';
  /** It gets no more work, and ends when its synchronous calls have. */
  isLeaving = false;
  /** From the last heartbeat; not stored. */
  cards: readonly CardReading[] = [];
  /** Counts the provider's links on all coordinators; known once its claims were resumed. */
  epoch = 0;
  readonly #link: Link<AgentMessage, CoordinatorMessage, AgentStream>;
  readonly #now: () => number;
  #events: LinkEvents | null = null;
  readonly #asks = new Asks(ASK_LIMITS.maxOpen);
  readonly #servicesRate = new RateLimit(LINK.maxServicesPerMinute, 60_000);
  #lastStream = 0;
  #strikes = 0;
  #syncStreams = 0;
  #unconfirmed = 0;
  #isRenewing = false;
  /** Why this end closes it; null: it does not. */
  #why: LinkEndReason | null = null;

  constructor(options: AgentLinkOptions) {
    const { hello, provider, timing } = options;
    this.#now = options.now;
    this.connectedAt = options.now();
    this.hello = hello;
    this.host = hello.host;
    this.services = this.#askable(hello.services);
    this.acceptMs = timing.acceptMs;
    const logger = options.logger.child({ provider: provider.id, session: this.id });
    this.#link = new Link(options, {
      highWaterBytes: LINK.coordinatorHighWaterBytes,
      timing,
      decode: decodeAgentMessage,
      message: (message, bytes) => this.#message(message, bytes),
      unknownStream: noSuchStream,
      violated: (reason) => {
        this.#why ??= 'link_error';
        logger.warn({ reason }, 'agent broke the protocol');
      },
      failed: (err) => {
        logger.error({ err }, 'link session failed');
        this.close(CLOSE.internalError, 'internal error');
      },
      silent: (silentMs) => {
        this.#why ??= 'no_heartbeat';
        logger.warn({ silentMs }, 'link is dead');
      },
      closed: (code) => {
        const why = this.#why ?? (code === CLOSE.drained ? 'agent_stopped' : 'connection_lost');
        logger.info({ code, why }, 'agent disconnected');
        this.#asks.close();
        this.#events?.closed(why);
      },
    });
    this.#link.peerFeatures = new Set(hello.features);
  }

  /**
   * Starts the link: from now on the agent may get work. Work that it resumes from earlier links
   * has its streams before the agent receives WELCOME, and can be stopped only after that.
   */
  welcome({ provider, timing, events, resumptions }: Greeting): void {
    this.#events = events;
    const resumed = resumptions.map((one) => this.#resume(one));
    const resume = resumed.map(({ told }) => told);
    const welcome = { linkId: this.id, provider, timing, resume, now: this.#now() };
    this.#link.send(welcomeMessage(welcome));
    for (const one of resumed) one.begin();
  }

  /** Resolves when the socket has closed. */
  get closed(): Promise<unknown> {
    return this.#link.closed;
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  get agentVersion(): string {
    return this.hello.agent_version;
  }

  get instanceId(): string {
    return this.hello.instance_id;
  }

  get busy(): number {
    return this.#link.size;
  }

  get answers(): boolean {
    return this.hello.features.includes(ASKS);
  }

  ask({ topic, args, by }: OwnerQuestion, onReply: ReplyHandler): boolean {
    return this.#asks.ask((ask) => this.#link.send({ t: 'ASK', ask, topic, args, by }), onReply);
  }

  /** Sends OPEN and the body; null if the link is closing or full. */
  open(use: SlotUse, request: OpenRequest, handler: ExchangeHandler): AgentStream | null {
    if (!this.#link.isOpen || this.#link.size >= LINK.maxStreams) return null;
    const exchange = this.#open({ use, handler });
    if (use.slots === NO_SLOTS) exchange.slot = 'none';
    if (use.kind === 'sync') this.#syncStreams += 1;
    exchange.start(openMessage(request, { stream: exchange.stream.id, use }), request);
    return exchange;
  }

  send(message: CoordinatorMessage): void {
    this.#link.send(message);
  }

  release(exchange: AgentStream): void {
    if (!exchange.stream.isOpen) return;
    exchange.stream.close();
    if (exchange.use.kind === 'sync') this.#syncStreams -= 1;
    if (this.isLeaving && this.#syncStreams === 0) setImmediate(() => this.#leaveNow());
    if (exchange.slot === 'held') this.#events?.slotFreed(exchange.use);
    if (exchange.slot === 'unconfirmed') this.#unconfirmed -= 1;
  }

  unconfirmed(exchange: AgentStream, freesSlot: boolean): void {
    this.#unconfirmed += 1;
    if (freesSlot) this.#events?.slotFreed(exchange.use);
    if (this.#unconfirmed <= LINK.maxUnconfirmedStops) return;
    this.close(CLOSE.protocolError, 'the agent does not confirm that work has stopped');
  }

  overrun(): void {
    this.#strikes += 1;
    if (this.#strikes < LINK.flowControlStrikes) return;
    this.close(CLOSE.flowControl, 'credit overrun three times');
  }

  /**
   * Ends the link and fails its running work at once, because the closing handshake may take
   * seconds.
   */
  close(code: number, reason: string, why: LinkEndReason = 'link_error'): void {
    this.#why ??= why;
    this.#link.close(code, reason);
  }

  /** Asks the agent to link to another coordinator; its jobs go on, and are resumed there. */
  leave(): void {
    this.isLeaving = true;
    const timer = setTimeout(() => this.#leaveNow(), LEAVE_LIMIT_MS).unref();
    void this.#link.closed.then(() => clearTimeout(timer));
    if (this.#syncStreams === 0) this.#leaveNow();
  }

  #leaveNow(): void {
    const reason = 'another coordinator serves this agent';
    this.#link.send({ t: 'GOAWAY', retry_after_ms: 0, reason });
    this.close(CLOSE.restart, reason, 'moved');
  }

  end(end: LinkEnd): void {
    const { code, reason, why } = LINK_ENDS[end];
    this.close(code, reason, why);
  }

  /** Whether the agent answers a ping within 3 s. */
  isAlive(): Promise<boolean> {
    return this.#link.isAlive();
  }

  #message(message: AgentMessage, bytes: Uint8Array): void {
    if (message.t !== 'ANSWER') requireNoBytes(message, bytes);
    switch (message.t) {
      case 'HELLO':
        throw new ProtocolViolation('a second HELLO');
      case 'SERVICES':
        this.#limitServices();
        this.#link.send({ t: 'SERVICES_OK', rev: message.rev });
        this.services = this.#askable(message.services);
        this.host = message.host ?? this.host;
        this.#events?.servicesChanged();
        return;
      case 'HEARTBEAT':
        void this.#heartbeat(message);
        return;
      case 'REPLY':
        return this.#asks.replied(message);
      case 'DRAIN':
        this.accepts = 'none';
        this.#events?.acceptsChanged();
        return;
      default:
        return (this.#link.workOf(message.stream) ?? noSuchStream(message.stream)).told(
          message,
          bytes,
        );
    }
  }

  /** An agent without the feature would end the link at the first OPEN that counts tokens. */
  #askable(services: readonly AdvertisedService[]): readonly AdvertisedService[] {
    return this.hello.features.includes(TOKEN_COUNTING) ? services : services.map(withoutCounting);
  }

  /**
   * Limits the rate of lists, because each one is validated completely and written to the store.
   */
  #limitServices(): void {
    if (this.#servicesRate.take(this.id, performance.now()).allowed) return;
    throw new ProtocolViolation(`more than ${LINK.maxServicesPerMinute} lists within a minute`);
  }

  async #heartbeat({ seq, accepts, claims, gpus }: Message<'HEARTBEAT'>): Promise<void> {
    this.cards = gpus ?? [];
    if (accepts !== this.accepts) {
      this.accepts = accepts;
      this.#events?.acceptsChanged();
    } else this.#events?.heard();
    const lost = await this.#renew(claims.map(({ claim_id: id }) => id));
    this.#link.send({ t: 'HEARTBEAT_OK', seq, lost_claims: [...lost] });
  }

  /** One at a time: an agent that sends too many heartbeats must not fill the store's queue. */
  async #renew(claimIds: readonly string[]): Promise<readonly string[]> {
    if (this.#events === null || this.#isRenewing || claimIds.length === 0) return [];
    this.#isRenewing = true;
    try {
      return await this.#events.renew(claimIds);
    } finally {
      this.#isRenewing = false;
    }
  }

  #open(work: ConstructorParameters<typeof AgentStream>[2]): AgentStream {
    return this.#link.open(++this.#lastStream, (stream) => new AgentStream(this, stream, work));
  }

  #resume(resumption: Resumption): Resumed {
    const { claimId, action } = resumption;
    if (action === 'discard') return { told: { claim_id: claimId, action }, begin: () => {} };
    const { serviceId, shareId, handler } = resumption;
    const exchange = this.#open({ use: { serviceId, kind: 'job', shareId, slots: 1 }, handler });
    exchange.resume(action === 'upload');
    const told = { claim_id: claimId, action, stream: exchange.stream.id };
    return { told, begin: () => resumption.begin(exchange) };
  }
}

function withoutCounting(service: AdvertisedService): AdvertisedService {
  const models = service.models.map((model) => ({
    ...model,
    supported_features: model.supported_features.filter((feature) => feature !== TOKEN_COUNTING),
  }));
  return { ...service, models };
}

/**
 * The coordinator assigns stream ids and never reuses them; any other id is a protocol violation.
 */
function noSuchStream(id: number): never {
  throw new ProtocolViolation(`stream ${id} is not open`);
}

// What a link gets once it is the provider's current one.

/** Events that a link reports to the registry. */
export interface LinkEvents {
  servicesChanged(): void;
  acceptsChanged(): void;
  /** A heartbeat, with new readings of its cards. */
  heard(): void;
  slotFreed(use: SlotUse): void;
  /** Resolves with the agent's claims that are not current. */
  renew(claimIds: readonly string[]): Promise<readonly string[]>;
  closed(why: LinkEndReason): void;
}

interface Greeting {
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: AgentLinkTiming;
  readonly events: LinkEvents;
  readonly resumptions: readonly Resumption[];
}

// WELCOME: the timing and limits that both ends use from now on.
export interface AgentLinkTiming extends LinkTiming {
  readonly acceptMs: number;
  readonly jobLeaseMs: number;
}

interface Welcomed {
  readonly linkId: string;
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: AgentLinkTiming;
  readonly resume: Message<'WELCOME'>['resume'];
  readonly now: number;
}

function welcomeMessage({ linkId, provider, timing, resume, now }: Welcomed): Message<'WELCOME'> {
  return {
    t: 'WELCOME',
    session_id: linkId,
    provider_id: provider.id,
    name: provider.name,
    ping_s: timing.pingMs / 1000,
    dead_s: timing.deadMs / 1000,
    heartbeat_s: Math.min(LINK.heartbeatMs, timing.jobLeaseMs / 4) / 1000,
    lease_s: timing.jobLeaseMs / 1000,
    limits: { window_bytes: LINK.windowBytes, max_streams: LINK.maxStreams },
    server_time: now,
    features: [...LINK_FEATURES],
    resume,
  };
}

/** OPEN: the description of one piece of work, sent to the agent before its bytes. */
function openMessage(
  request: OpenRequest,
  { stream, use }: { readonly stream: number; readonly use: SlotUse },
): Message<'OPEN'> {
  const { job } = request;
  return {
    t: 'OPEN',
    stream,
    kind: job === null ? 'sync' : 'job',
    ...describeWork(request, use.serviceId),
    ...(use.slots > 1 && { parallel: use.slots }),
    ...(job !== null && { job_id: job.jobId, claim_id: job.claimId }),
  };
}

/** The part that a coordinator also tells another one which holds the agent's link. */
export function describeWork(request: OpenRequest, serviceId: string) {
  const { uploads, reasoningField } = request;
  return {
    endpoint: request.endpoint,
    service_id: serviceId,
    model: request.model,
    caller: request.caller,
    body: { bytes: request.body.length },
    ...(uploads.length > 0 && { parts: uploads.map(announce) }),
    ...(reasoningField !== undefined && { reasoning_field: reasoningField }),
    deadline_ms: request.deadlineMs,
    attempt: request.attempt,
    request_id: request.requestId,
  };
}

function announce({ name, contentType, bytes }: Upload): {
  name: string;
  content_type: string;
  bytes: number;
} {
  return { name, content_type: contentType, bytes };
}
