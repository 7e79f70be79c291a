/**
 * One agent's link, from WELCOME to its close: routes frames to streams, answers heartbeats,
 * watches for silence. Whatever a hostile agent sends ends this session and nothing else.
 */
import { randomId } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { answersPing, socketWire } from '@inference-gateway/shared/protocol/wire';
import type {
  CardReading,
  AdvertisedService,
  AgentHost,
  AgentMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { closeReason, CLOSE, LINK } from '@inference-gateway/shared/protocol/version';
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { Liveness } from '@inference-gateway/shared/protocol/liveness';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { RateLimit } from '../core/access/rate.js';
import type { ExchangeHandler, OpenRequest, Resumption, Upload } from '../core/routing/links.js';
import { AgentStream, ProtocolViolation } from './agent-stream.js';
import type { StreamHost } from './agent-stream.js';
import type { SlotUse } from './slot-counts.js';

export interface SessionSocket {
  readonly socket: WebSocket;
  /** The TCP stream under the socket. */
  readonly stream: Duplex;
}

interface SessionOptions extends SessionSocket {
  readonly hello: Message<'HELLO'>;
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: SessionTiming;
  readonly logger: Logger;
}

interface Resumed {
  readonly told: Message<'WELCOME'>['resume'][number];
  begin(): void;
}

export class AgentSession implements StreamHost {
  readonly id = randomId();
  readonly connectedAt = Date.now();
  readonly hello: Message<'HELLO'>;
  /** From HELLO, or from the last SERVICES: a slow probe of the hardware follows with it. */
  host: AgentHost;
  services: readonly AdvertisedService[];
  readonly acceptMs: number;
  accepts: Message<'HEARTBEAT'>['accepts'] = 'all';
  /** As the last heartbeat told them: not written down anywhere. */
  cards: readonly CardReading[] = [];
  /** Resolves when the socket has closed. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #writer: LinkWriter;
  readonly #liveness: Liveness;
  readonly #logger: Logger;
  readonly #streams = new Map<number, AgentStream>();
  #events: SessionEvents | null = null;
  readonly #servicesRate = new RateLimit(LINK.maxServicesPerMinute, 60_000);
  #lastStream = 0;
  #strikes = 0;
  #unconfirmed = 0;
  #isRenewing = false;

  constructor(options: SessionOptions) {
    const { socket, stream, hello, provider, timing, logger } = options;
    this.hello = hello;
    this.host = hello.host;
    this.services = hello.services;
    this.acceptMs = timing.acceptMs;
    this.#socket = socket;
    this.#logger = logger.child({ provider: provider.id, session: this.id });
    this.#liveness = new Liveness({
      pingMs: timing.pingMs,
      deadMs: timing.deadMs,
      ping: () => socket.ping(),
      dead: () => this.#dead(timing.deadMs),
    });
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, LINK.coordinatorHighWaterBytes);
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        this.#ended(code);
        resolve();
      });
    });
  }

  /**
   * Begins the session proper: the agent may be given work from now on. What it brings back of
   * earlier links has its streams before the agent hears of them, and may be stopped only then.
   */
  welcome({ provider, timing, events, resumptions }: Greeting): void {
    this.#events = events;
    const resumed = resumptions.map((one) => this.#resume(one));
    const resume = resumed.map(({ told }) => told);
    const welcome = { sessionId: this.id, provider, timing, resume };
    this.control(JSON.stringify(welcomeMessage(welcome)));
    for (const one of resumed) one.begin();
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get busy(): number {
    return this.#streams.size;
  }

  /** Sends OPEN and the body; null where the link is closing or full. */
  open(use: SlotUse, request: OpenRequest, handler: ExchangeHandler): AgentStream | null {
    if (this.#socket.readyState !== this.#socket.OPEN) return null;
    if (this.#streams.size >= LINK.maxStreams) return null;
    const stream = this.#newStream({ use, handler });
    const open = openMessage(request, { stream: stream.id, use });
    stream.start(JSON.stringify(open), request);
    return stream;
  }

  control(frame: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // Streams stop at the high-water mark; only an agent that asks and never reads gets past it.
    if (this.#socket.bufferedAmount > LINK.maxUnsentBytes) this.#socket.terminate();
    else this.#writer.control(frame);
  }

  release(stream: AgentStream): void {
    if (!this.#streams.delete(stream.id)) return;
    if (stream.slot === 'held') this.#events?.slotFreed(stream.use);
    if (stream.slot === 'unconfirmed') this.#unconfirmed -= 1;
  }

  unconfirmed(stream: AgentStream, freesSlot: boolean): void {
    this.#unconfirmed += 1;
    if (freesSlot) this.#events?.slotFreed(stream.use);
    if (this.#unconfirmed <= LINK.maxUnconfirmedStops) return;
    this.close(CLOSE.protocolError, 'the agent does not confirm that work has stopped');
  }

  overrun(): void {
    this.#strikes += 1;
    if (this.#strikes < LINK.flowControlStrikes) return;
    this.close(CLOSE.flowControl, 'credit overrun three times');
  }

  /**
   * Ends the session and fails what is under way at once: the closing handshake may take seconds.
   */
  close(code: number, reason: string): void {
    this.#socket.close(code, closeReason(reason));
    this.#abandon();
  }

  /** Whether the other end answers a ping within 3 s. */
  isAlive(): Promise<boolean> {
    return answersPing(this.#socket);
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    try {
      if (isBinary) this.#frame(data as Buffer);
      else this.#text((data as Buffer).toString());
    } catch (error) {
      this.#refuse(error);
    }
  }

  #text(text: string): void {
    const decoded = decodeAgentMessage(text);
    if (decoded.kind === 'unknown') return;
    if (decoded.kind === 'malformed') throw new ProtocolViolation(decoded.reason);
    this.#message(decoded.message);
  }

  #message(message: AgentMessage): void {
    switch (message.t) {
      case 'HELLO':
        throw new ProtocolViolation('a second HELLO');
      case 'SERVICES':
        this.#limitServices();
        this.control(JSON.stringify({ t: 'SERVICES_OK', rev: message.rev }));
        this.services = message.services;
        this.host = message.host ?? this.host;
        this.#events?.servicesChanged();
        return;
      case 'HEARTBEAT':
        void this.#heartbeat(message);
        return;
      case 'DRAIN':
        this.accepts = 'none';
        this.#events?.acceptsChanged();
        return;
      default:
        this.#stream(message.stream).received(message);
    }
  }

  /** Each list is checked whole and written to the store. */
  #limitServices(): void {
    if (this.#servicesRate.take(this.id, performance.now()).allowed) return;
    throw new ProtocolViolation(`more than ${LINK.maxServicesPerMinute} lists within a minute`);
  }

  async #heartbeat({ seq, accepts, claims, gpus }: Message<'HEARTBEAT'>): Promise<void> {
    this.cards = gpus ?? [];
    if (accepts !== this.accepts) {
      this.accepts = accepts;
      this.#events?.acceptsChanged();
    }
    const lost = await this.#renew(claims.map(({ claim_id: id }) => id));
    this.control(JSON.stringify({ t: 'HEARTBEAT_OK', seq, lost_claims: lost }));
  }

  /** One at a time: an agent that beats like mad must not fill the line of the store. */
  async #renew(claimIds: readonly string[]): Promise<readonly string[]> {
    if (this.#events === null || this.#isRenewing || claimIds.length === 0) return [];
    this.#isRenewing = true;
    try {
      return await this.#events.renew(claimIds);
    } finally {
      this.#isRenewing = false;
    }
  }

  #newStream(work: ConstructorParameters<typeof AgentStream>[2]): AgentStream {
    const send = this.#writer.open(++this.#lastStream, LINK.windowBytes);
    const stream = new AgentStream(this, send, work);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  #resume(resumption: Resumption): Resumed {
    const { claimId, action } = resumption;
    if (action === 'discard') return { told: { claim_id: claimId, action }, begin: () => {} };
    const { serviceId, shareId, handler } = resumption;
    const stream = this.#newStream({ use: { serviceId, kind: 'job', shareId, slots: 1 }, handler });
    stream.resume(action === 'upload');
    const told = { claim_id: claimId, action, stream: stream.id };
    return { told, begin: () => resumption.begin(stream) };
  }

  #frame(message: Uint8Array): void {
    const frame = decodeFrame(message);
    if (frame === null) throw new ProtocolViolation('a binary message that is no frame');
    const stream = this.#stream(frame.stream);
    if (frame.kind === 'data') stream.receivedData(frame.bytes);
    else stream.granted(frame.credit);
  }

  /** Streams are named by the coordinator and never reused; every other id is a violation. */
  #stream(id: number): AgentStream {
    const stream = this.#streams.get(id);
    if (stream === undefined) throw new ProtocolViolation(`stream ${id} is not open`);
    return stream;
  }

  #refuse(error: unknown): void {
    const violation = error instanceof ProtocolViolation;
    if (violation) this.#logger.warn({ reason: error.message }, 'agent broke the protocol');
    else this.#logger.error({ err: error }, 'link session failed');
    if (violation) this.close(CLOSE.protocolError, error.message);
    else this.close(CLOSE.internalError, 'internal error');
  }

  #dead(deadMs: number): void {
    this.#logger.warn({ silentMs: deadMs }, 'link is dead');
    this.#socket.terminate();
  }

  #ended(code: number): void {
    this.#logger.info({ code }, 'agent disconnected');
    this.#liveness.stop();
    this.#abandon();
    this.#events?.closed();
  }

  #abandon(): void {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.lost();
  }
}

// What a session is given once it is the provider's current one.

/** What a session tells the registry. */
export interface SessionEvents {
  servicesChanged(): void;
  acceptsChanged(): void;
  slotFreed(use: SlotUse): void;
  /** Resolves with those claims of the agent's that are not current. */
  renew(claimIds: readonly string[]): Promise<readonly string[]>;
  closed(): void;
}

interface Greeting {
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: SessionTiming;
  readonly events: SessionEvents;
  readonly resumptions: readonly Resumption[];
}

// WELCOME: the times and limits that both ends keep from now on.
export interface SessionTiming {
  readonly pingMs: number;
  readonly deadMs: number;
  readonly acceptMs: number;
  readonly jobLeaseMs: number;
}

interface Welcomed {
  readonly sessionId: string;
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: SessionTiming;
  readonly resume: Message<'WELCOME'>['resume'];
}

function welcomeMessage({ sessionId, provider, timing, resume }: Welcomed): Message<'WELCOME'> {
  return {
    t: 'WELCOME',
    session_id: sessionId,
    provider_id: provider.id,
    name: provider.name,
    ping_s: timing.pingMs / 1000,
    dead_s: timing.deadMs / 1000,
    heartbeat_s: Math.min(LINK.heartbeatMs, timing.jobLeaseMs / 4) / 1000,
    lease_s: timing.jobLeaseMs / 1000,
    limits: { window_bytes: LINK.windowBytes, max_streams: LINK.maxStreams },
    server_time: Date.now(),
    resume,
  };
}

/** OPEN: what an agent is told of one piece of work before its bytes. */
function openMessage(
  request: OpenRequest,
  { stream, use }: { readonly stream: number; readonly use: SlotUse },
): Message<'OPEN'> {
  const { job, uploads } = request;
  return {
    t: 'OPEN',
    stream,
    kind: job === null ? 'sync' : 'job',
    endpoint: request.endpoint,
    service_id: use.serviceId,
    model: request.model,
    caller: request.caller,
    body: { bytes: request.body.length },
    ...(use.slots > 1 && { parallel: use.slots }),
    ...(uploads.length > 0 && { parts: uploads.map(announce) }),
    ...(request.reasoningField !== undefined && { reasoning_field: request.reasoningField }),
    deadline_ms: request.deadlineMs,
    ...(job !== null && { job_id: job.jobId, claim_id: job.claimId }),
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
