/**
 * One link, from HELLO to its close: hands work to the runner, tells the coordinator what is
 * served, and watches for silence.
 */
import { answersPing, socketWire } from '@inference-gateway/shared/protocol/wire';
import type {
  CardReading,
  AdvertisedService,
  AgentHost,
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import {
  closeReason,
  CLOSE,
  LINK,
  PROTOCOL_VERSION,
} from '@inference-gateway/shared/protocol/version';
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { Liveness } from '@inference-gateway/shared/protocol/liveness';
import { decodeCoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { SendStream } from '@inference-gateway/shared/protocol/writer';
import type { RawData, WebSocket } from 'ws';
import { AGENT_VERSION } from '../agent-version.js';
import type { HeldClaims } from '../work/held-claims.js';
import type { HeldJob } from '../work/held-job.js';
import { IncomingWork } from '../work/incoming-work.js';
import { JobStream } from '../work/job-stream.js';
import type { WorkRunner } from '../work/runner.js';
import type { StreamWork, WorkLink } from '../work/work.js';
import type { LinkEnd, OpenSocket } from './dial.js';

export interface LinkParts {
  /** New for every process. */
  readonly instanceId: string;
  readonly runner: WorkRunner;
  readonly claims: HeldClaims;
  readonly services: () => readonly AdvertisedService[];
  readonly host: () => AgentHost;
  /** What the cards do now; null where the machine does not tell. */
  readonly cards: () => readonly CardReading[] | null;
  /** Called once, when the coordinator has registered this agent. */
  readonly onWelcome: (welcome: Message<'WELCOME'>) => void;
}

class ProtocolViolation extends Error {}

export class AgentLink {
  /** Resolves when the link has ended. */
  readonly ended: Promise<LinkEnd>;
  readonly #parts: LinkParts;
  readonly #socket: WebSocket;
  readonly #writer: LinkWriter;
  readonly #work = new Map<number, StreamWork>();
  #liveness: Liveness;
  #heartbeat: NodeJS.Timeout | null = null;
  #heartbeats = 0;
  #servicesRev = 1;
  #retryAfterMs: number | null = null;

  constructor({ socket, stream }: OpenSocket, parts: LinkParts) {
    this.#parts = parts;
    this.#socket = socket;
    this.#liveness = this.#watch(LINK.pingMs, LINK.deadMs);
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, LINK.agentHighWaterBytes);
    socket.on('message', (data, isBinary) => this.#received(data, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    this.ended = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#stop();
        resolve({ kind: 'closed', code, reason: String(reason), retryAfterMs: this.#retryAfterMs });
      });
    });
    this.#hello();
  }

  /** Sends the whole list again, and the hardware, which a slow probe may have found since. */
  announceServices(): void {
    this.#servicesRev += 1;
    const { services, host } = this.#parts;
    this.#send({ t: 'SERVICES', rev: this.#servicesRev, services: [...services()], host: host() });
  }

  /** Tells whose work is let in, which claims are held, and what the cards do. After WELCOME. */
  beat(): void {
    if (this.#heartbeat === null) return;
    this.#heartbeats += 1;
    const { runner, claims } = this.#parts;
    const cards = this.#parts.cards();
    this.#send({
      t: 'HEARTBEAT',
      seq: this.#heartbeats,
      slots: runner.slots(),
      claims: claims.claims(),
      accepts: runner.accepts,
      ...(cards !== null && { gpus: [...cards] }),
    });
  }

  drain(deadlineMs: number): void {
    this.#send({ t: 'DRAIN', deadline_ms: deadlineMs, reason: 'the agent is stopping' });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, closeReason(reason));
  }

  /** Ends the link unless its other end answers a ping within 3 s. */
  async verify(): Promise<void> {
    if (!(await answersPing(this.#socket))) this.#socket.terminate();
  }

  #hello(): void {
    const { instanceId, services, host, claims } = this.#parts;
    this.#send({
      t: 'HELLO',
      proto: PROTOCOL_VERSION,
      agent_version: AGENT_VERSION,
      features: [],
      instance_id: instanceId,
      host: host(),
      services_rev: this.#servicesRev,
      services: [...services()],
      resume: claims.offers(),
    });
  }

  #send(message: AgentMessage): void {
    this.#control(JSON.stringify(message));
  }

  #control(frame: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // Streams stop at the high-water mark: past it gets whoever asks and never reads.
    if (this.#socket.bufferedAmount > LINK.maxUnsentBytes) this.#socket.terminate();
    else this.#writer.control(frame);
  }

  #received(data: RawData, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    try {
      if (isBinary) this.#frame(data as Buffer);
      else this.#text((data as Buffer).toString());
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.close(CLOSE.protocolError, error.message);
    }
  }

  #text(text: string): void {
    const decoded = decodeCoordinatorMessage(text);
    if (decoded.kind === 'malformed') throw new ProtocolViolation(decoded.reason);
    if (decoded.kind === 'message') this.#message(decoded.message);
  }

  #message(message: CoordinatorMessage): void {
    switch (message.t) {
      case 'WELCOME':
        return this.#welcome(message);
      case 'OPEN':
        return this.#open(message);
      case 'RESET':
        return this.#work.get(message.stream)?.cancel();
      case 'GOAWAY':
        this.#retryAfterMs = message.retry_after_ms;
        return undefined;
      case 'HEARTBEAT_OK':
        return this.#parts.claims.lost(message.lost_claims);
      case 'RESULT_ACK':
        return this.#parts.claims.acknowledged(message.claim_id, message.verdict);
      case 'SERVICES_OK':
      case 'DRAIN':
        return undefined;
    }
  }

  #welcome(welcome: Message<'WELCOME'>): void {
    this.#liveness.stop();
    this.#liveness = this.#watch(welcome.ping_s * 1000, welcome.dead_s * 1000);
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.beat(), welcome.heartbeat_s * 1000);
    const { runner, claims, onWelcome } = this.#parts;
    claims.resume(welcome.resume, {
      carry: (job, stream) => this.#carry(job, stream),
      refuse: (stream) => this.#refuse(stream),
    });
    if (runner.accepts !== 'all') this.beat();
    onWelcome(welcome);
  }

  #open(open: Message<'OPEN'>): void {
    const { runner, claims } = this.#parts;
    if (open.kind === 'sync') {
      const { send, link } = this.#stream(open.stream);
      const work = new IncomingWork(open, send, link);
      this.#work.set(open.stream, work);
      return runner.take(work);
    }
    const { job, run } = claims.open(open);
    this.#carry(job, open.stream);
    return runner.take(run);
  }

  /** Sends the job's answer on this stream, from its first byte on. */
  #carry(job: HeldJob, stream: number): void {
    const { send, link } = this.#stream(stream);
    this.#work.set(stream, new JobStream(job, send, link));
  }

  /** A claim that was let go while the coordinator thought about it. */
  #refuse(stream: number): void {
    this.#send({ t: 'RESET', stream, code: 'CANCELED', message: 'the claim is not held' });
  }

  #stream(stream: number): { send: SendStream; link: WorkLink } {
    if (this.#work.has(stream)) throw new ProtocolViolation(`stream ${stream} is open already`);
    const send = this.#writer.open(stream, LINK.windowBytes);
    const control = (frame: string | Uint8Array): void => this.#control(frame);
    return { send, link: { control, closed: () => this.#work.delete(stream) } };
  }

  /** Frames of work that has ended here are late, not wrong: the two ends' last words can cross. */
  #frame(message: Uint8Array): void {
    const frame = decodeFrame(message);
    if (frame === null) throw new ProtocolViolation('a binary message that is no frame');
    const work = this.#work.get(frame.stream);
    if (frame.kind === 'data') work?.receive(frame.bytes);
    else work?.grant(frame.credit);
  }

  #watch(pingMs: number, deadMs: number): Liveness {
    return new Liveness({
      pingMs,
      deadMs,
      ping: () => this.#socket.ping(),
      dead: () => this.#socket.terminate(),
    });
  }

  /** Synchronous work does not outlive its link; jobs do, and are offered to the next one. */
  #stop(): void {
    this.#liveness.stop();
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    const abandoned = [...this.#work.values()];
    this.#work.clear();
    for (const work of abandoned) work.abandon();
  }
}
