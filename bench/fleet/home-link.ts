/** One link of a home, from HELLO to its close, over a real WebSocket. */
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { Liveness } from '@inference-gateway/shared/protocol/liveness';
import { decodeCoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { CLOSE, LINK } from '@inference-gateway/shared/protocol/version';
import { socketWire } from '@inference-gateway/shared/protocol/wire';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { HomeStream } from './home-stream.js';
import type { UpLine } from './up-line.js';

export interface LinkHost {
  readonly line: UpLine;
  hello(): Message<'HELLO'>;
  heartbeat(seq: number): Message<'HEARTBEAT'>;
  /** Work of earlier links goes on, on the streams that the message names. */
  welcomed(welcome: Message<'WELCOME'>, streamOf: (id: number) => HomeStream): void;
  opened(open: Message<'OPEN'>, stream: HomeStream): void;
  acknowledged(claimId: string): void;
  lost(claimIds: readonly string[]): void;
  /** `retryAfterMs` is what the coordinator asked for, 0 where it did not. */
  ended(end: { readonly code: number; readonly retryAfterMs: number }): void;
}

export class HomeLink {
  readonly #socket: WebSocket;
  readonly #host: LinkHost;
  readonly #writer: LinkWriter;
  readonly #streams = new Map<number, HomeStream>();
  #liveness: Liveness;
  #heartbeat: NodeJS.Timeout | undefined;
  #beats = 0;
  #retryAfterMs = 0;

  /** The socket is open, and nothing was read from it yet. */
  constructor(socket: WebSocket, stream: Duplex, host: LinkHost) {
    this.#socket = socket;
    this.#host = host;
    this.#liveness = this.#watch(LINK.pingMs, LINK.deadMs);
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, LINK.agentHighWaterBytes);
    socket.on('message', (data, isBinary) => this.#received(data as Buffer, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    socket.once('close', (code) => this.#ended(code));
    this.#send(host.hello());
  }

  close(): void {
    this.#socket.close(CLOSE.normal, 'the home is closed');
  }

  /** As a pulled plug: without a word. */
  cut(): void {
    this.#socket.terminate();
  }

  #send(message: AgentMessage): void {
    this.#control(JSON.stringify(message));
  }

  #control(frame: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#writer.control(frame);
  }

  /** A home is there to find faults: what it does not understand is one. */
  #received(data: Buffer, isBinary: boolean): void {
    this.#liveness.heard();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (isBinary) return this.#frame(data);
    const decoded = decodeCoordinatorMessage(data.toString());
    if (decoded.kind === 'malformed') throw new Error(`the coordinator sent: ${decoded.reason}`);
    if (decoded.kind === 'message') this.#message(decoded.message);
    return undefined;
  }

  #message(message: CoordinatorMessage): void {
    switch (message.t) {
      case 'WELCOME':
        return this.#welcome(message);
      case 'OPEN':
        return this.#host.opened(message, this.#newStream(message.stream));
      case 'RESET':
        return this.#streams.get(message.stream)?.cancel();
      case 'RESULT_ACK':
        return this.#host.acknowledged(message.claim_id);
      case 'HEARTBEAT_OK':
        return this.#host.lost(message.lost_claims);
      case 'GOAWAY':
        this.#retryAfterMs = message.retry_after_ms;
        return undefined;
      case 'SERVICES_OK':
      case 'DRAIN':
        return undefined;
    }
  }

  #welcome(welcome: Message<'WELCOME'>): void {
    this.#liveness.stop();
    this.#liveness = this.#watch(welcome.ping_s * 1_000, welcome.dead_s * 1_000);
    const beat = (): void => this.#send(this.#host.heartbeat(++this.#beats));
    this.#heartbeat = setInterval(beat, welcome.heartbeat_s * 1_000);
    this.#host.welcomed(welcome, (id) => this.#newStream(id));
  }

  /** Frames of a stream that has ended here are late: the last words of the two ends can cross. */
  #frame(bytes: Buffer): void {
    const frame = decodeFrame(bytes);
    if (frame === null) throw new Error('the coordinator sent a binary message that is no frame');
    const stream = this.#streams.get(frame.stream);
    if (frame.kind === 'data') stream?.receive(frame.bytes);
    else stream?.grant(frame.credit);
  }

  #newStream(id: number): HomeStream {
    if (this.#streams.has(id)) throw new Error(`the coordinator opened stream ${id} twice`);
    const stream = new HomeStream(this.#writer.open(id, LINK.windowBytes), {
      line: this.#host.line,
      control: (frame) => this.#control(frame),
      closed: () => this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    return stream;
  }

  #watch(pingMs: number, deadMs: number): Liveness {
    return new Liveness({
      pingMs,
      deadMs,
      ping: () => this.#socket.ping(),
      dead: () => this.#socket.terminate(),
    });
  }

  #ended(code: number): void {
    this.#liveness.stop();
    clearInterval(this.#heartbeat);
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.abandon();
    this.#host.ended({ code, retryAfterMs: this.#retryAfterMs });
  }
}
