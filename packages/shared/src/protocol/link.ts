/**
 * A link at both ends: the socket, the table of streams with the credit of both directions,
 * sending, and liveness. The meaning of messages depends on the role: the agent's is below, the
 * coordinator's in its `links`.
 */
import { ReceiveWindow } from './credit.js';
import { decodeFrame, encodeMessage, encodeWindow } from './frames.js';
import { Liveness } from './liveness.js';
import {
  AGENT_FEATURES,
  decodeCoordinatorMessage,
  MESSAGE_FRAMES,
  VECTOR_SERVICES,
} from './messages.js';
import type { ServiceType } from '../endpoints.js';
import { ASKS } from './asks.js';
import type { Reply } from './asks.js';
import type { AgentMessage, CoordinatorMessage, Decoded, Message } from './messages.js';
import { closeReason, CLOSE, LINK, PROTOCOL_VERSION } from './version.js';
import { answersPing, socketWire } from './socket.js';
import type { LinkSocket, OpenSocket } from './socket.js';
import { LinkWriter } from './writer.js';
import type { SendStream } from './writer.js';

/** The other end broke the protocol; the link ends with close code 4000. */
export class ProtocolViolation extends Error {}

/** The handlers of one end. */
export interface LinkRole<Inbound> {
  /** Streams stop sending at this many unsent bytes of the socket. */
  readonly highWaterBytes: number;
  readonly timing: LinkTiming;
  decode(text: string): Decoded<Inbound>;
  /** The bytes that came in the message's own frame; none for a text frame. */
  message(message: Inbound, bytes: Uint8Array): void;
  /** Bytes or credit arrived for a stream that is not open. */
  unknownStream(id: number): void;
  /** A message that is none of the known ones. Without this it breaks the protocol. */
  malformed?(reason: string, text: string): void;
  /** The other end broke the protocol; the link is closed next. */
  violated(reason: string): void;
  /** A message could not be handled, without a fault of the other end. */
  failed(error: unknown): void;
  /** Nothing was received for `deadMs`; the socket is terminated next. */
  silent(deadMs: number): void;
  /** The socket has closed, and every stream was told. */
  closed(code: number): void;
}

export interface LinkTiming {
  readonly pingMs: number;
  readonly deadMs: number;
}

/** The work on one stream, as the link sees it. */
export interface StreamWork {
  readonly stream: LinkStream<never>;
  /** Receives bytes, which it counts itself: `LinkStream.hadCredit`. */
  receive(bytes: Uint8Array): void;
  /** The link has ended, and the stream with it. Called once. */
  abandon(): void;
}

/**
 * The place of one stream's work in its link's table; null once it has ended. When a `Map` grows or
 * shrinks, its earlier tables keep their entries and lead to the later ones. Tables that V8 has
 * moved to the old generation kept the objects of thousands of ended calls alive until the next
 * full collection, and moved these to the old generation, too: 15 % of all that was allocated.
 */
interface Entry<Work> {
  work: Work | null;
}

export class Link<Inbound, Outbound, Work extends StreamWork> {
  /** Resolves when the socket has closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #socket: LinkSocket;
  readonly #role: LinkRole<Inbound>;
  readonly #writer: LinkWriter;
  readonly #work = new Map<number, Entry<Work>>();
  /** What the other end knows beyond the first version. */
  peerFeatures: ReadonlySet<string> = new Set();
  #liveness: Liveness;

  /** The socket must be open, and nothing or only its first message was read from it. */
  constructor({ socket, stream }: OpenSocket, role: LinkRole<Inbound>) {
    this.#socket = socket;
    this.#role = role;
    this.#liveness = this.#watch(role.timing);
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, role.highWaterBytes);
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#received(data, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    this.closed = new Promise((resolve) => {
      socket.once('close', (code: number, reason: Buffer) => {
        this.#ended(code);
        resolve({ code, reason: String(reason) });
      });
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Streams that are open now. */
  get size(): number {
    return this.#work.size;
  }

  /** The work on this stream; undefined if it is not open. */
  workOf(stream: number): Work | undefined {
    return this.#work.get(stream)?.work ?? undefined;
  }

  /** Opens a stream. Throws a `ProtocolViolation` if it is open already. */
  open(id: number, start: (stream: LinkStream<Outbound>) => Work): Work {
    if (this.#work.has(id)) throw new ProtocolViolation(`stream ${id} is open already`);
    const entry: Entry<Work> = { work: null };
    const stream = new LinkStream<Outbound>(this.#writer.open(id, LINK.windowBytes), {
      control: (frame) => this.control(frame),
      readsMessageFrames: () => this.peerFeatures.has(MESSAGE_FRAMES),
      closed: () => {
        entry.work = null;
        this.#work.delete(id);
      },
    });
    const work = start(stream);
    // Refused work has already closed its stream.
    if (stream.isOpen) {
      entry.work = work;
      this.#work.set(id, entry);
    }
    return work;
  }

  send(message: Outbound): void {
    this.control(JSON.stringify(message));
  }

  /** Sends at once, before queued data of the streams. */
  control(frame: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // Streams stop at the high-water mark: only a peer that never reads exceeds this.
    if (this.#socket.bufferedAmount > LINK.maxUnsentBytes) this.#socket.terminate();
    else this.#writer.control(frame);
  }

  /** Uses these times from now on, which both ends have agreed on. */
  watch(timing: LinkTiming): void {
    this.#liveness.stop();
    this.#liveness = this.#watch(timing);
  }

  /** Ends the link. Its streams end at once: the closing handshake may take seconds. */
  close(code: number, reason: string): void {
    this.#socket.close(code, closeReason(reason));
    this.#abandon();
  }

  /** Terminates the socket without a close frame. */
  terminate(): void {
    this.#socket.terminate();
  }

  /** Whether the other end answers a ping within 3 s. */
  isAlive(): Promise<boolean> {
    return answersPing(this.#socket);
  }

  #received(data: Buffer, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    try {
      if (isBinary) this.#frame(data);
      else this.#message(data.toString(), NO_BYTES);
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) return this.#role.failed(error);
      this.#role.violated(error.message);
      this.close(CLOSE.protocolError, error.message);
    }
    return undefined;
  }

  #message(text: string, bytes: Uint8Array): void {
    const decoded = this.#role.decode(text);
    if (decoded.kind === 'malformed') {
      if (this.#role.malformed === undefined) throw new ProtocolViolation(decoded.reason);
      this.#role.malformed(decoded.reason, text);
    }
    if (decoded.kind === 'message') this.#role.message(decoded.message, bytes);
  }

  #frame(message: Uint8Array): void {
    const frame = decodeFrame(message);
    if (frame === null) throw new ProtocolViolation('a binary message that is no frame');
    if (frame.kind === 'message') return this.#message(frame.text, frame.bytes);
    const work = this.workOf(frame.stream);
    if (work === undefined) this.#role.unknownStream(frame.stream);
    else if (frame.kind === 'data') work.receive(frame.bytes);
    else work.stream.out.grant(frame.credit);
    return undefined;
  }

  #watch({ pingMs, deadMs }: LinkTiming): Liveness {
    return new Liveness({
      pingMs,
      deadMs,
      ping: () => this.#socket.ping(),
      dead: () => {
        this.#role.silent(deadMs);
        this.#socket.terminate();
      },
    });
  }

  #ended(code: number): void {
    this.#liveness.stop();
    this.#abandon();
    this.#role.closed(code);
  }

  #abandon(): void {
    const abandoned = [...this.#work.values()].flatMap(({ work }) => work ?? []);
    this.#work.clear();
    for (const work of abandoned) {
      work.stream.close();
      work.abandon();
    }
  }
}

const NO_BYTES = new Uint8Array(0);

/** Throws a `ProtocolViolation` for bytes in the frame of a message that has none. */
export function requireNoBytes({ t }: { readonly t: string }, bytes: Uint8Array): void {
  if (bytes.length > 0) throw new ProtocolViolation(`${t} with ${bytes.length} bytes in its frame`);
}

/** The link, as a stream sees it. */
interface StreamHost {
  control(frame: string | Uint8Array): void;
  /** Whether the other end reads messages with their bytes in one frame. */
  readsMessageFrames(): boolean;
  /** No more messages are expected on it. */
  closed(): void;
}

/** One stream of a link: its id, its credit both ways, and whether it is open. */
export class LinkStream<Outbound> {
  readonly id: number;
  /** The sending side. */
  readonly out: SendStream;
  readonly #host: StreamHost;
  readonly #window = new ReceiveWindow(LINK.windowBytes);
  #isOpen = true;

  constructor(out: SendStream, host: StreamHost) {
    this.id = out.id;
    this.out = out;
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Counts received bytes; false: the other end had no credit for them. */
  hadCredit(bytes: number): boolean {
    return this.#window.receive(bytes);
  }

  /** Grants the other end new credit for bytes that were forwarded. */
  consumed(bytes: number): void {
    const credit = this.#window.consume(bytes);
    if (credit > 0 && this.#isOpen) this.#host.control(encodeWindow(this.id, credit));
  }

  /** Sends at once, before queued data. */
  say(message: Unaddressed<Outbound>): void {
    if (this.#isOpen) this.#host.control(JSON.stringify({ ...message, stream: this.id }));
  }

  /**
   * Sends a message and so few bytes at once, in one frame; false if they have to be queued after
   * the message instead.
   */
  sayWith(message: Unaddressed<Outbound>, bytes: Uint8Array): boolean {
    if (bytes.length > LINK.maxInlineBytes || !this.out.hasCredit(bytes.length)) return false;
    if (!this.#isOpen || !this.#host.readsMessageFrames()) return false;
    const text = JSON.stringify({ ...message, stream: this.id });
    this.out.spend(bytes.length);
    this.#host.control(encodeMessage(this.id, text, bytes));
    return true;
  }

  /** Sends after the queued bytes. */
  sayInOrder(message: Unaddressed<Outbound>): void {
    if (this.#isOpen) this.out.text(JSON.stringify({ ...message, stream: this.id }));
  }

  /** Sends nothing more; messages that still arrive are late. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.out.discard();
    this.#host.closed();
  }
}

/** A message of a stream, without the stream's id. */
export type Unaddressed<M> = M extends { readonly stream: number } ? Omit<M, 'stream'> : never;

// The agent's end, for the program, the demo's machines and the benches.

/** The agent, across consecutive links. */
export interface LinkedAgent {
  readonly version: string;
  /** New for every process. */
  readonly instanceId: string;
  /** The current services, and the hardware. */
  served(): Pick<Message<'HELLO'>, 'services' | 'host'>;
  /** Claims of earlier links. */
  offers(): Message<'HELLO'>['resume'];
  heartbeat(): Omit<Message<'HEARTBEAT'>, 't' | 'seq'>;
  /** The coordinator's decisions about claims; results are sent by `AgentEnd.carry`. */
  welcomed(welcome: Message<'WELCOME'>, end: AgentEnd): void;
  /** Accepts or rejects the work. */
  opened(open: Message<'OPEN'>, stream: AgentEndStream): AgentWork;
  acknowledged(claimId: string, verdict: Message<'RESULT_ACK'>['verdict']): void;
  /** Claims of the last heartbeat that are no longer current. */
  lost(claimIds: readonly string[]): void;
  /** A question beside its work; without this the coordinator asks none. */
  asked?(ask: Message<'ASK'>, reply: (reply: Reply) => void): void;
  /** The coordinator broke the protocol; the link is closed next. */
  violated?(reason: string): void;
}

export type AgentEndStream = LinkStream<AgentMessage>;

export interface AgentWork extends StreamWork {
  /** The coordinator stopped the work and waits for a confirmation. */
  cancel(): void;
}

/** How a link has ended. */
export interface ClosedLink {
  readonly kind: 'closed';
  readonly code: number;
  readonly reason: string;
  /** The delay from GOAWAY. */
  readonly retryAfterMs: number | null;
}

export class AgentEnd {
  /** Resolves when the link has ended. */
  readonly ended: Promise<ClosedLink>;
  readonly #agent: LinkedAgent;
  readonly #link: Link<CoordinatorMessage, AgentMessage, AgentWork>;
  #heartbeat: NodeJS.Timeout | null = null;
  #heartbeats = 0;
  #servicesRev = 1;
  #retryAfterMs: number | null = null;

  /** Sends HELLO at once. */
  constructor(opened: OpenSocket, agent: LinkedAgent) {
    this.#agent = agent;
    this.#link = new Link(opened, {
      highWaterBytes: LINK.agentHighWaterBytes,
      timing: LINK,
      decode: decodeCoordinatorMessage,
      message: (message, bytes) => this.#message(message, bytes),
      // Late, but no violation: final messages of the two ends can cross.
      unknownStream: () => {},
      violated: (reason) => agent.violated?.(reason),
      failed: (error) => {
        throw error;
      },
      silent: () => {},
      closed: () => {
        if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
      },
    });
    this.ended = this.#link.closed.then(({ code, reason }) => {
      return { kind: 'closed', code, reason, retryAfterMs: this.#retryAfterMs };
    });
    this.#hello();
  }

  /** Sends the whole list again, and the hardware, which a slow probe may have found meanwhile. */
  announceServices(): void {
    this.#servicesRev += 1;
    const { services, host } = this.#agent.served();
    const known = services.filter((one) => this.#isKnown(one));
    this.#link.send({ t: 'SERVICES', rev: this.#servicesRev, services: known, host });
  }

  /** Sends accepted callers, held claims and telemetry of the cards. After WELCOME. */
  beat(): void {
    if (this.#heartbeat === null) return;
    this.#heartbeats += 1;
    this.#link.send({ t: 'HEARTBEAT', seq: this.#heartbeats, ...this.#agent.heartbeat() });
  }

  drain(deadlineMs: number): void {
    const reason = 'the agent is stopping';
    this.#link.send({ t: 'DRAIN', deadline_ms: deadlineMs, reason });
  }

  /** Sends the answer to a claim of an earlier link on the stream that WELCOME names. */
  carry(stream: number, start: (stream: AgentEndStream) => AgentWork): void {
    this.#link.open(stream, start);
  }

  /** Reports that a claim in WELCOME is no longer held. */
  refuse(stream: number): void {
    const message = 'the claim is not held';
    this.#link.send({ t: 'RESET', stream, code: 'CANCELED', message });
  }

  close(code: number, reason: string): void {
    this.#link.close(code, reason);
  }

  /** Terminates the socket without a close frame. */
  terminate(): void {
    this.#link.terminate();
  }

  /** Ends the link unless its other end answers a ping within 3 s. */
  async verify(): Promise<void> {
    if (!(await this.#link.isAlive())) this.#link.terminate();
  }

  #hello(): void {
    const { version, instanceId } = this.#agent;
    const { services, host } = this.#agent.served();
    this.#link.send({
      t: 'HELLO',
      proto: PROTOCOL_VERSION,
      agent_version: version,
      features: [...AGENT_FEATURES, ...(this.#agent.asked === undefined ? [] : [ASKS])],
      instance_id: instanceId,
      host,
      services_rev: this.#servicesRev,
      services: services.filter((one) => this.#isKnown(one)),
      resume: this.#agent.offers(),
    });
  }

  #message(message: CoordinatorMessage, bytes: Uint8Array): void {
    if (message.t !== 'OPEN') requireNoBytes(message, bytes);
    switch (message.t) {
      case 'WELCOME':
        return this.#welcomed(message);
      case 'OPEN':
        this.#link.open(message.stream, (stream) => this.#agent.opened(message, stream));
        // Refused work has no stream any more.
        if (bytes.length > 0) this.#link.workOf(message.stream)?.receive(bytes);
        return undefined;
      case 'RESET':
        return this.#link.workOf(message.stream)?.cancel();
      case 'ASK':
        return this.#agent.asked?.(message, (reply) =>
          this.#link.send({ t: 'REPLY', ask: message.ask, ...reply }),
        );
      case 'GOAWAY':
        this.#retryAfterMs = message.retry_after_ms;
        return undefined;
      case 'HEARTBEAT_OK':
        return this.#agent.lost(message.lost_claims);
      case 'RESULT_ACK':
        return this.#agent.acknowledged(message.claim_id, message.verdict);
      case 'SERVICES_OK':
      case 'DRAIN':
        return undefined;
    }
  }

  /** Whether the coordinator knows the type of the service: until WELCOME, only the first ones. */
  #isKnown({ service_type: type }: Message<'HELLO'>['services'][number]): boolean {
    return this.#link.peerFeatures.has(VECTOR_SERVICES) || !VECTOR_TYPES.has(type);
  }

  #welcomed(welcome: Message<'WELCOME'>): void {
    this.#link.peerFeatures = new Set(welcome.features);
    this.#link.watch({ pingMs: welcome.ping_s * 1000, deadMs: welcome.dead_s * 1000 });
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.beat(), welcome.heartbeat_s * 1000);
    this.#agent.welcomed(welcome, this);
    const { services } = this.#agent.served();
    const isLonger = services.some(({ service_type: type }) => VECTOR_TYPES.has(type));
    if (this.#link.peerFeatures.has(VECTOR_SERVICES) && isLonger) this.announceServices();
  }
}

const VECTOR_TYPES: ReadonlySet<ServiceType> = new Set(['embedding', 'rerank']);
