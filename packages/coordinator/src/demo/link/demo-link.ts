/** One link of a demo machine, from HELLO to its close: what an agent says, without an agent. */
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import { Liveness } from '@inference-gateway/shared/protocol/liveness';
import { decodeCoordinatorMessage } from '@inference-gateway/shared/protocol/messages';
import type {
  AgentMessage,
  CoordinatorMessage,
  Message,
} from '@inference-gateway/shared/protocol/messages';
import { LINK, PROTOCOL_VERSION } from '@inference-gateway/shared/protocol/version';
import { socketWire } from '@inference-gateway/shared/protocol/wire';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Call } from '../answers/answer.js';
import { hostOf, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { programVersion } from '../../program-version.js';
import { cardReadings } from './card-readings.js';
import { DemoStream } from './demo-stream.js';
import type { StreamHost } from './demo-stream.js';

interface LinkParts {
  readonly machine: Machine;
  /** The same for every link of a machine: it is one process. */
  readonly instanceId: string;
  readonly random: Call['random'];
}

export class DemoLink implements StreamHost {
  readonly #socket: WebSocket;
  readonly #parts: LinkParts;
  readonly #writer: LinkWriter;
  readonly #streams = new Map<number, DemoStream>();
  readonly #liveness: Liveness;
  #heartbeat: NodeJS.Timeout | undefined;
  #beats = 0;

  /** The socket is open, and nothing was read from it yet. */
  constructor(socket: WebSocket, stream: Duplex, parts: LinkParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#liveness = new Liveness({
      pingMs: LINK.pingMs,
      deadMs: LINK.deadMs,
      ping: () => socket.ping(),
      dead: () => socket.terminate(),
    });
    const wire = socketWire(socket, stream, () => this.#liveness.sent());
    this.#writer = new LinkWriter(wire, LINK.agentHighWaterBytes);
    socket.on('message', (data, isBinary) => this.#received(data as Buffer, isBinary));
    socket.on('ping', () => this.#liveness.heard());
    socket.on('pong', () => this.#liveness.heard());
    socket.once('close', () => this.#closed());
    this.#say(this.#hello());
  }

  get pace(): StreamHost['pace'] {
    const { random, machine } = this.#parts;
    return { random, tokensPerSecond: machine.tokensPerSecond };
  }

  control(frame: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#writer.control(frame);
  }

  ended({ open }: DemoStream): void {
    this.#streams.delete(open.stream);
  }

  /** It brings back nothing of earlier links: what ran on them is run again elsewhere. */
  #hello(): AgentMessage {
    const { machine, instanceId } = this.#parts;
    return {
      t: 'HELLO',
      proto: PROTOCOL_VERSION,
      agent_version: programVersion(),
      features: [],
      instance_id: instanceId,
      host: hostOf(machine),
      services_rev: 1,
      services: servicesOf(machine),
      resume: [],
    };
  }

  #received(data: Buffer, isBinary: boolean): void {
    this.#liveness.heard();
    if (isBinary) return this.#frame(data);
    const decoded = decodeCoordinatorMessage(data.toString());
    if (decoded.kind === 'message') this.#message(decoded.message);
    return undefined;
  }

  #message(message: CoordinatorMessage): void {
    switch (message.t) {
      case 'WELCOME':
        return this.#welcomed(message);
      case 'OPEN':
        return this.#opened(message);
      case 'RESET':
        return this.#streams.get(message.stream)?.cancel();
      case 'HEARTBEAT_OK':
        return this.#lost(new Set(message.lost_claims));
      default:
        return undefined;
    }
  }

  #welcomed({ heartbeat_s: heartbeatS }: Message<'WELCOME'>): void {
    this.#beat();
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatS * 1_000);
  }

  #opened(open: Message<'OPEN'>): void {
    const send = this.#writer.open(open.stream, LINK.windowBytes);
    this.#streams.set(open.stream, new DemoStream(open, send, this));
  }

  /** Keeps the leases of its jobs, and says whether more is welcome. */
  #beat(): void {
    const { machine, random } = this.#parts;
    const running = [...this.#streams.values()].map(({ open }) => open);
    const slots = servicesOf(machine).map(({ service_id: id, slots: all }) => {
      const busy = running.filter((open) => open.service_id === id).length;
      return { service_id: id, busy, free: Math.max(0, all - busy) };
    });
    const claims = running.flatMap(({ claim_id: id }) =>
      id === undefined ? [] : [{ claim_id: id, phase: 'running' as const }],
    );
    const accepts = machine.state === 'paused' ? 'none' : 'all';
    const gpus = cardReadings(machine, new Set(running.map((open) => open.service_id)), random);
    this.#say({ t: 'HEARTBEAT', seq: ++this.#beats, slots, claims, accepts, gpus });
  }

  /** Somebody canceled these jobs, or another machine has them by now. */
  #lost(claimIds: ReadonlySet<string>): void {
    for (const stream of this.#streams.values()) {
      if (claimIds.has(stream.open.claim_id ?? '')) stream.cancel();
    }
  }

  /** Of a stream that has ended here it is late: the last words of the two ends can cross. */
  #frame(bytes: Buffer): void {
    const frame = decodeFrame(bytes);
    if (frame === null) return;
    const stream = this.#streams.get(frame.stream);
    if (frame.kind === 'data') stream?.receive(frame.bytes);
    else stream?.grant(frame.credit);
  }

  #say(message: AgentMessage): void {
    this.control(JSON.stringify(message));
  }

  #closed(): void {
    this.#liveness.stop();
    clearInterval(this.#heartbeat);
    for (const stream of this.#streams.values()) stream.abandon();
  }
}
